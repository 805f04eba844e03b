#include "engine/records/recorded_space.h"

#include <vector>

#include "codegen/schedule/check.h"
#include "engine/records/workload.h"

namespace tile_tune::engine {

Result<search::Recording> recording_of(db::Database& database, const db::RecordedRow& row) {
  TILE_TUNE_TRY(program, program_of(row.program));
  TILE_TUNE_TRY(target, target_of(row.target));
  TILE_TUNE_TRY(stored, database.trials_of(row.program, row.target, row.tool));
  std::vector<search::RecordedTrial> trials;
  for (const auto& one : stored) {
    TILE_TUNE_TRY(trial, trial_from_row(one.trial));
    if (!codegen::check(program, trial.schedule)) continue;
    trials.push_back({trial.schedule, trial.origin, trial.measurement.outcome, trial.measurement.ratio});
  }
  return search::Recording::make(program, target, trials);
}

}  // namespace tile_tune::engine
