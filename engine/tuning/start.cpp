#include "engine/tuning/start.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <utility>

#include "codegen/schedule/check.h"

namespace tile_tune::engine {

namespace {

nlohmann::json budget_json(const search::Budget& budget) {
  nlohmann::json json = nlohmann::json::object();
  if (budget.trials) json["trials"] = *budget.trials;
  if (budget.seconds) json["seconds"] = *budget.seconds;
  return json;
}

/// 32 bits, so that it is easy to type again.
uint64_t random_seed() { return std::random_device()(); }

/// nullopt where the stored object has no such number: a record from elsewhere may hold anything.
std::optional<double> number_of(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

/// What the stored budget leaves, unless the command line names one of its own or it cannot be read.
search::Budget remaining_budget(const TuningRequest& request, const db::UnfinishedSession& session, int trials_done) {
  if (request.trials || request.seconds) return wanted_budget(request);
  const auto json = nlohmann::json::parse(session.session.budget_json, nullptr, false);
  const auto trials = number_of(json, "trials"), seconds = number_of(json, "seconds");
  if (!trials && !seconds) return wanted_budget(request);
  constexpr double kMostTrials = std::numeric_limits<int>::max();
  search::Budget budget;
  if (trials) budget.trials = static_cast<int>(std::clamp(*trials - trials_done, 0.0, kMostTrials));
  if (seconds) budget.seconds = std::max(0.0, *seconds - std::max(0.0, session.elapsed_s));
  return budget;
}

Result<Start> begin(db::Database& database, const TuningKey& key, const TuningRequest& request) {
  Start start;
  start.seed = request.seed.value_or(random_seed());
  start.strategy = request.strategy;
  start.budget = wanted_budget(request);
  db::SessionRow row;
  row.seed = start.seed;
  row.strategy = search::strategy_name(start.strategy);
  row.options_json = nlohmann::json::object().dump();
  row.budget_json = budget_json(start.budget).dump();
  TILE_TUNE_TRY(session, database.begin_session(key.program, key.target, key.tool, row));
  start.session = session;
  return start;
}

/// nullopt if the session has trials that this program cannot have: the search takes what it replays on trust, and a
/// record from elsewhere may name any schedule.
Result<std::optional<Start>> resume(db::Database& database, const TuningKey& key, const TuningRequest& request,
                                    const search::Space& space, const db::UnfinishedSession& unfinished) {
  Start start;
  start.session = unfinished.session.id;
  start.seed = unfinished.session.seed;
  // Sessions of version 0.1 are called "evolution", which is what is called genetic now.
  start.strategy = search::parse_strategy(unfinished.session.strategy).value_or(search::Strategy::Genetic);
  start.elapsed = unfinished.elapsed_s;
  TILE_TUNE_TRY(stored, database.trials_of(key.program, key.target, key.tool, start.session));
  int searched = 0;
  for (const auto& one : stored) {
    auto trial = trial_from_row(one.trial);
    if (!trial || !codegen::check_for(space.target(), space.program(), trial->schedule)) return std::nullopt;
    searched += trial->origin != "final";
    start.done.push_back(std::move(*trial));
  }
  TILE_TUNE_CHECK(database.resume_session(start.session));
  start.budget = remaining_budget(request, unfinished, searched);
  return start;
}

}  // namespace

Result<Start> start_session(db::Database& database, const TuningKey& key, const TuningRequest& request,
                            const search::Space& space, const Reporter& report) {
  if (!request.resume) return begin(database, key, request);
  TILE_TUNE_TRY(unfinished, database.unfinished_session(key.program, key.target, key.tool));
  if (unfinished) {
    TILE_TUNE_TRY(resumed, resume(database, key, request, space, *unfinished));
    if (resumed) return std::move(*resumed);
    report.warn("bad-record", "the unfinished session has trials that do not fit this program: a new one begins");
    return begin(database, key, request);
  }
  if (!request.may_begin) report.notice("there is no unfinished session of this program: a new one begins");
  return begin(database, key, request);
}

Result<bool> is_finished(const Workload& workload, const codegen::Target& target, const Session& session) {
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadWrite));
  const TuningKey key{workload.row, target_row(target), tool_row()};
  TILE_TUNE_TRY(unfinished, database.unfinished_session(key.program, key.target, key.tool));
  if (unfinished) return false;
  TILE_TUNE_TRY(trials, database.trials_of(key.program, key.target, key.tool));
  return !trials.empty();
}

}  // namespace tile_tune::engine
