#include "cli/tuning_store.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "codegen/schedule/check.h"
#include "db/stack.h"
#include "frontend/ir/json.h"
#include "search/evolve/guide.h"
#include "search/predict/features.h"

namespace tile_tune::cli {

namespace {

/// More seeds only delay the search: five records reach 93 % in ten trials (design/search.md, "The loop").
constexpr size_t kPriorSeeds = 5;

int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::optional<codegen::Schedule> fitting(const std::string& schedule_json, const ir::Program& program) {
  auto schedule = codegen::schedule_from_json(nlohmann::json::parse(schedule_json, nullptr, false));
  if (!schedule || !codegen::check(program, *schedule)) return std::nullopt;
  return std::move(*schedule);
}

/// Samples of other sizes beyond these slow every batch and teach little: a thousand take some 30 ms to train on.
constexpr size_t kMostRelatives = 1000;

bool same_tool(const db::ToolRow& a, const db::ToolRow& b) {
  return std::tie(a.tile_tune, a.halide, a.llvm, a.schedule_version, a.protocol_version) ==
         std::tie(b.tile_tune, b.halide, b.llvm, b.schedule_version, b.protocol_version);
}

/// Stored trials that fit the program, without finals (each was a trial before), up to a session.
Result<std::vector<search::Trial>> trials_before(db::Database& database, const TuningKey& key,
                                                 const ir::Program& program, const std::string& session) {
  std::vector<search::Trial> trials;
  TILE_TUNE_TRY(stored, database.trials_of(key.program, key.target, key.tool));
  for (const auto& one : stored) {
    if (one.session == session) break;
    auto trial = trial_from_row(one.trial);
    if (trial && trial->origin != "final" && codegen::check(program, trial->schedule))
      trials.push_back(std::move(*trial));
  }
  return trials;
}

/// Each against the best of them.
void append_samples(const std::vector<search::Trial>& trials, const ir::Program& program, const codegen::Target& target,
                    std::vector<predict::Sample>& samples) {
  double best = 0;
  for (const auto& trial : trials) best = std::max(best, search::lesson(trial.measurement).value_or(0));
  if (best <= 0) return;
  const predict::Features features(program, target);
  for (const auto& trial : trials)
    if (const auto ratio = search::lesson(trial.measurement))
      samples.push_back({features.row(trial.schedule), static_cast<float>(*ratio / best)});
}

bool failed(const std::string& outcome) { return outcome != "ok" && outcome != "slow" && outcome != "duplicate"; }

}  // namespace

Result<search::Priors> load_priors(std::vector<db::Database>& databases, const TuningKey& key,
                                   const ir::Program& program) {
  search::Priors priors;
  std::vector<db::TrialRow> good;
  std::set<std::string> seen;
  TILE_TUNE_TRY(best, db::best_of(databases, key.program, key.target, key.tool));
  if (best) priors.best = fitting(best->schedule_json, program);
  if (priors.best) seen.insert(best->schedule_id);
  for (auto& database : databases) {
    TILE_TUNE_TRY(trials, database.trials_of(key.program, key.target, key.tool));
    for (auto& [id, session, trial] : trials) {
      if (failed(trial.outcome)) priors.faulty.push_back(trial.schedule_id);
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

Result<void> load_experience(std::vector<db::Database>& databases, const TuningKey& key, const ir::Program& program,
                             const codegen::Target& target, const std::string& session, search::Priors& priors) {
  for (auto& database : databases) {
    TILE_TUNE_TRY(earlier, trials_before(database, key, program, session));
    priors.earlier.insert(priors.earlier.end(), earlier.begin(), earlier.end());
    TILE_TUNE_TRY(family, database.recorded(key.program.family_hash));
    for (const auto& row : family) {
      const bool same_program =
          row.program.content_hash == key.program.content_hash && row.program.layout == key.program.layout;
      if (same_program || priors.relatives.size() >= kMostRelatives) continue;
      if (row.target.features_json != key.target.features_json || !same_tool(row.tool, key.tool)) continue;
      const auto json = nlohmann::json::parse(row.program.canonical_json, nullptr, false);
      const auto relative = ir::program_from_json(json);
      if (!relative) continue;
      TILE_TUNE_TRY(trials, trials_before(database, {row.program, row.target, row.tool}, *relative, session));
      append_samples(trials, *relative, target, priors.relatives);
    }
  }
  priors.relatives.resize(std::min(priors.relatives.size(), kMostRelatives));
  return {};
}

TuningStore::TuningStore(db::Database& database, std::string session, double elapsed, std::function<double()> clock)
    : database_(database), session_(std::move(session)), elapsed_(elapsed), clock_(std::move(clock)) {}

Result<void> TuningStore::on_trial(const search::Trial& trial) {
  db::TrialRow row = trial_row(trial);
  row.elapsed_s = elapsed_ + clock_();
  row.created_ms = now_ms();
  if (row.origin == "final") {
    finals_.push_back(std::move(row));
    return {};
  }
  TILE_TUNE_CHECK(database_.append_trial(session_, row));
  return {};
}

Result<void> TuningStore::finish(const std::string& state, const std::optional<search::Winner>& winner) {
  const std::string chosen = winner ? codegen::schedule_id(winner->schedule) : "";
  for (auto& row : finals_) {
    row.chosen = row.schedule_id == chosen;
    TILE_TUNE_CHECK(database_.append_trial(session_, row));
  }
  return database_.finish_session(session_, state);
}

}  // namespace tile_tune::cli
