#include "engine/records/experience.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "codegen/schedule/check.h"
#include "search/evolve/guide.h"
#include "search/predict/features.h"

namespace tile_tune::engine {

namespace {

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

std::vector<predict::Sample> samples_from(const std::vector<search::Trial>& trials, const ir::Program& program,
                                          const codegen::Target& target) {
  std::vector<predict::Sample> samples;
  double best = 0;
  for (const auto& trial : trials) best = std::max(best, search::lesson(trial.measurement).value_or(0));
  if (best <= 0) return samples;
  const predict::Features features(program, target);
  for (const auto& trial : trials)
    if (const auto ratio = search::lesson(trial.measurement))
      samples.push_back({features.row(trial.schedule), static_cast<float>(*ratio / best)});
  return samples;
}

Result<std::vector<predict::Sample>> samples_before(db::Database& database, const TuningKey& key,
                                                    const codegen::Target& target, const std::string& session) {
  const auto program = program_of(key.program);
  if (!program) return std::vector<predict::Sample>();
  TILE_TUNE_TRY(trials, trials_before(database, key, *program, session));
  return samples_from(trials, *program, target);
}

}  // namespace

Result<std::vector<predict::Sample>> samples_of(db::Database& database, const TuningKey& key,
                                                const codegen::Target& target) {
  return samples_before(database, key, target, "");
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
      if (same_program || priors.relatives.size() >= kMostSamples) continue;
      if (db::target_id(row.target) != db::target_id(key.target) || !same_tool(row.tool, key.tool)) continue;
      TILE_TUNE_TRY(samples, samples_before(database, {row.program, row.target, row.tool}, target, session));
      priors.relatives.insert(priors.relatives.end(), samples.begin(), samples.end());
    }
  }
  priors.relatives.resize(std::min(priors.relatives.size(), kMostSamples));
  return {};
}

}  // namespace tile_tune::engine
