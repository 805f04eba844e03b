#include "engine/recheck/recheck.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "codegen/schedule/check.h"
#include "db/stack.h"
#include "engine/session/plain_onlooker.h"
#include "search/evolve/finals.h"
#include "search/space/space.h"
#include "search/workers/workers.h"

namespace tile_tune::engine {

namespace {

constexpr size_t kMostRivals = 3;  // schedules of one program that are timed against each other

/// Of the program; the first is the default, then the records' that can still be read.
struct Finalists {
  std::vector<codegen::Schedule> schedules;
  std::vector<size_t> places;  // of each record in `schedules`; 0: it does not fit this version
};

Finalists finalists_of(const search::Space& space, const std::vector<db::BestRow>& records) {
  Finalists result{{space.default_schedule()}, {}};
  for (const auto& record : records) {
    auto schedule = codegen::schedule_from_json(nlohmann::json::parse(record.schedule_json, nullptr, false));
    const bool fits = schedule && codegen::check_for(space.target(), space.program(), *schedule);
    result.places.push_back(fits ? result.schedules.size() : 0);
    if (fits) result.schedules.push_back(std::move(*schedule));
  }
  return result;
}

search::Measurement unfit() {
  search::Measurement measurement;
  measurement.outcome = search::Outcome::CompileError;
  measurement.reason = "the schedule does not fit this version of the program's space";
  return measurement;
}

bool is_same_code(const search::Measurement& one, const search::Measurement& other) {
  return !one.code_hash.empty() && one.code_hash == other.code_hash;
}

/// The measurements of the finalists as trials. What is the same code as the default is as fast as it.
std::vector<db::TrialRow> rows_of(const Finalists& finalists, const std::vector<search::Measurement>& measured,
                                  size_t chosen) {
  std::vector<db::TrialRow> rows;
  for (size_t i = 0; i < measured.size(); ++i) {
    search::Trial trial;
    trial.sequence = static_cast<int>(i);
    trial.schedule = finalists.schedules[i];
    trial.measurement = measured[i];
    const bool timed = measured[i].outcome == search::Outcome::Ok;
    trial.origin = timed ? "final" : i == 0 ? "default" : "prior";
    rows.push_back(trial_row(trial));
    rows.back().chosen = timed && i == chosen;
  }
  return rows;
}

Result<void> store(db::Database& database, const db::ProgramRow& program, const codegen::Target& target,
                   const std::vector<db::TrialRow>& rows) {
  const db::SessionRow session{{}, kRecheckSeed, db::kRecheckStrategy, "{}", "{}", {}, 0};
  TILE_TUNE_TRY(id, database.begin_session(program, target_row(target), tool_row(), session));
  for (const auto& row : rows) TILE_TUNE_CHECK(database.append_trial(id, row));
  return database.finish_session(id, "done");
}

}  // namespace

void warn_of_unstored(const Diagnostic& why, const Reporter& report) {
  report.warn(why.code, why.message, "what is found out is not stored");
}

Result<std::vector<db::BestRow>> rivals_of(std::vector<db::Database>& stack, const db::ProgramRow& program,
                                           const codegen::Target& target) {
  std::vector<db::BestRow> rivals;
  std::set<std::string> seen;
  const auto keep = [&](const db::BestRow& row) {
    if (rivals.size() < kMostRivals && seen.insert(row.schedule_id).second) rivals.push_back(row);
  };
  TILE_TUNE_TRY(best, db::best_of(stack, program, target_row(target), tool_row()));
  if (best) keep(*best);
  for (auto& database : stack) {
    const auto look = [&](const db::BestRow& row) -> Result<bool> {
      TILE_TUNE_TRY(refuted,
                    db::refutation(db::each_of(stack), program, target_row(target), tool_row(), row.schedule_id));
      if (!refuted) keep(row);
      return false;
    };
    TILE_TUNE_CHECK(database.best(program, target_row(target), tool_row(), look));
  }
  return rivals;
}

Result<std::vector<Rechecked>> recheck(const ir::Program& program, const std::vector<db::BestRow>& records,
                                       const codegen::Target& target, db::Database* database, const Session& session,
                                       const std::atomic<bool>& stop) {
  const search::Space space(program, target);
  const Finalists finalists = finalists_of(space, records);
  search::WorkerOptions options;
  options.command = {session.executable, "worker"};
  options.target = target;
  options.seed = kRecheckSeed;
  options.stop = &stop;
  options.onlooker = plain_onlooker(session.report);
  TILE_TUNE_TRY(workers, search::Workers::start(program, space.default_schedule(), std::move(options)));
  const auto measured = workers->finals(finalists.schedules);
  if (workers->trouble()) return tl::unexpected(*workers->trouble());
  if (stop) return std::vector<Rechecked>();
  if (measured.size() != finalists.schedules.size())
    return failure("no-finals", fmt::format("the schedules of {} could not be timed", program.name),
                   "recheck again; the records are as they were");
  if (measured[0].outcome != search::Outcome::Ok)
    return fail(ErrorClass::Verification, "default-failed",
                fmt::format("not even the default schedule of {} works here: {} ({})", program.name, measured[0].reason,
                            search::outcome_name(measured[0].outcome)));
  const bool first_fits = !finalists.places.empty() && finalists.places[0] == 1;
  const size_t winner = search::decide(measured, first_fits);
  std::vector<Rechecked> results;
  for (size_t i = 0; i < records.size(); ++i) {
    const size_t place = finalists.places[i];
    results.push_back({records[i], place > 0 ? measured[place] : unfit(), place > 0 && place == winner,
                       place > 0 && is_same_code(measured[place], measured[0])});
  }
  if (database == nullptr) return results;
  // A record of this tool and target that stands needs no second one: it is what it says.
  const bool confirmed = first_fits && winner == 1 && db::staleness(records[0]) == 0;
  TILE_TUNE_CHECK(store(*database, records.front().program, target,
                        rows_of(finalists, measured, confirmed || winner == 0 ? measured.size() : winner)));
  return results;
}

}  // namespace tile_tune::engine
