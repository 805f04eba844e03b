// Handing out what is in use, without the trials that led there.
#include <set>

#include "db/state.h"

namespace tile_tune::db {
namespace {

/// What a record is known by among the others: no two kinds share a hash.
const std::string& name_of(const Record& record) {
  if (const auto* session = std::get_if<SessionRecord>(&record.content)) return session->row.id;
  if (const auto* winner = std::get_if<WinnerRow>(&record.content)) return winner->trial;
  return record.digest;
}

/// Sessions that have no trials and say what they found in their options: what was chosen for ranges of sizes, and what
/// was found wrong with it since.
Result<std::vector<DoneSession>> sessions_without_trials(Database& database) {
  TILE_TUNE_TRY(sessions, database.done_sessions(kSizedStrategy));
  TILE_TUNE_TRY(checks, database.done_sessions(kRecheckStrategy));
  for (DoneSession& check : checks) {
    TILE_TUNE_TRY(trials, database.trials_of(check.program, check.target, check.tool, check.session.id));
    if (trials.empty()) sessions.push_back(std::move(check));
  }
  return sessions;
}

}  // namespace

Result<void> Database::each_record_in_use(const RecordVisitor& visitor) {
  std::set<std::string> wanted;
  const auto want = [&](const std::string& session, const ProgramRow& program, const TargetRow& target,
                        const ToolRow& tool) {
    wanted.insert({session, program_id(program), target_id(target), tool_id(tool)});
  };
  TILE_TUNE_TRY(keys, recorded());
  for (const RecordedRow& key : keys) {
    TILE_TUNE_TRY(best, this->best(key.program, key.target, key.tool));
    if (!best || !best->same_target || !best->same_tool) continue;
    want(best->session, best->program, best->target, best->tool);
    wanted.insert({best->trial_id, best->schedule_id});
  }
  TILE_TUNE_TRY(sessions, sessions_without_trials(*this));
  for (const DoneSession& one : sessions) want(one.session.id, one.program, one.target, one.tool);
  return each_record(
      [&](const Record& record) { return wanted.contains(name_of(record)) ? visitor(record) : Result<void>(); });
}

}  // namespace tile_tune::db
