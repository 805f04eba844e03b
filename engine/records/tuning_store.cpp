#include "engine/records/tuning_store.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "codegen/schedule/check.h"
#include "db/stack.h"
#include "engine/records/quarantine.h"

namespace tile_tune::engine {

namespace {

/// More seeds only delay the search: five records reach 93 % in ten trials.
constexpr size_t kPriorSeeds = 5;

/// A compiler that dies of one schedule dies of many like it; `db quarantine` writes the reproducers of all.
constexpr size_t kMostReproducers = 8;

int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::optional<codegen::Schedule> fitting(const std::string& schedule_json, const ir::Program& program) {
  auto schedule = codegen::schedule_from_json(nlohmann::json::parse(schedule_json, nullptr, false));
  if (!schedule || !codegen::check(program, *schedule)) return std::nullopt;
  return std::move(*schedule);
}

// What ran out of time or memory may have enough of it another time: limits follow the budget, and memory is shared.
bool is_faulty(const std::string& outcome) {
  static const std::set<std::string> kHarmless{"ok", "slow", "duplicate", "timeout", "out-of-memory"};
  return kHarmless.count(outcome) == 0;
}

}  // namespace

Result<search::Priors> load_priors(std::vector<db::Database>& databases, const TuningKey& key,
                                   const ir::Program& program) {
  search::Priors priors;
  std::vector<db::TrialRow> good;
  std::set<std::string> seen;
  const auto fits = [&](const db::BestRow& one) -> Result<bool> {
    return fitting(one.schedule_json, program).has_value();
  };
  TILE_TUNE_TRY(best, db::best_of(databases, key.program, key.target, key.tool, fits));
  if (best) priors.best = fitting(best->schedule_json, program);
  if (priors.best) seen.insert(best->schedule_id);
  for (auto& database : databases) {
    TILE_TUNE_TRY(trials, database.trials_of(key.program, key.target, key.tool));
    for (auto& [id, session, trial] : trials) {
      if (is_faulty(trial.outcome)) priors.faulty.push_back(trial.schedule_id);
      if (trial.outcome == "ok" && trial.ratio > 0 && trial.origin != "default") good.push_back(std::move(trial));
    }
  }
  std::stable_sort(good.begin(), good.end(), [](const auto& a, const auto& b) { return a.ratio > b.ratio; });
  for (const auto& trial : good) {
    if (priors.seeds.size() == kPriorSeeds) break;
    if (!seen.insert(trial.schedule_id).second) continue;
    if (auto schedule = fitting(trial.schedule_json, program)) priors.seeds.push_back(std::move(*schedule));
  }
  return priors;
}

TuningStore::TuningStore(db::Database& database, TuningKey key, StoredSession session, std::filesystem::path quarantine,
                         std::function<double()> clock)
    : database_(database),
      key_(std::move(key)),
      session_(std::move(session)),
      quarantine_(std::move(quarantine)),
      clock_(std::move(clock)) {}

Result<void> TuningStore::on_trial(const search::Trial& trial) {
  db::TrialRow row = trial_row(trial);
  row.elapsed_s = session_.elapsed + clock_();
  row.created_ms = now_ms();
  if (row.origin == "final") {
    finals_.push_back(std::move(row));
    return {};
  }
  TILE_TUNE_TRY(id, database_.append_trial(session_.id, row));
  if (is_worth_a_reproducer(trial.measurement)) keep_reproducer(id, row);
  return {};
}

void TuningStore::keep_reproducer(const std::string& trial, const db::TrialRow& row) {
  if (reproducers_.size() >= kMostReproducers || reproducer_fault_) return;
  const auto written =
      write_reproducer({key_.program, key_.target, key_.tool, session_.seed, {trial, session_.id, row}}, quarantine_);
  if (written)
    reproducers_.push_back((quarantine_ / reproducer_name(trial)).string());
  else
    reproducer_fault_ = written.error();
}

Result<void> TuningStore::finish(const std::string& state, const std::optional<search::Winner>& winner) {
  const std::string chosen = winner ? codegen::schedule_id(winner->schedule) : "";
  for (auto& row : finals_) {
    row.chosen = row.schedule_id == chosen;
    TILE_TUNE_CHECK(database_.append_trial(session_.id, row));
  }
  return database_.finish_session(session_.id, state);
}

}  // namespace tile_tune::engine
