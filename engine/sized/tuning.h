// Tuning one program at many sizes under one budget.
#pragma once

#include <string>
#include <vector>

#include "engine/sized/sized_workload.h"
#include "engine/tuning/tuning_request.h"

namespace tile_tune::engine {

/// How a budget is shared out: schedules are searched at `searched` points, kernels timed at about `timed`.
struct SizedPlan {
  size_t searched = 2, timed = 4;
  search::Budget each;  // of one search
};
/// A search takes at least kLeastTrials or kLeastSeconds, so that many points need a large budget. Of seconds a third
/// is left for the timing.
SizedPlan plan_sized(const std::vector<codegen::EntrySize>& sizes, const search::Budget& budget);
inline constexpr int kLeastTrials = 16;
inline constexpr double kLeastSeconds = 10;

struct SearchedPoint {
  std::vector<int64_t> at;
  ir::Program program;
  codegen::Schedule schedule;  // the winner
  double ratio = 0;            // to the default schedule
  int trials = 0;
};

struct SizedTuned {
  codegen::SizedEntry entry;
  std::vector<SearchedPoint> searched;
  size_t timed = 0, planned = 0;  // points; of which the time was too short for some
  std::string session, database;
  uint64_t seed = 0;
  double seconds = 0;
};

/// Searches, times, decides and stores. nullopt: stopped; what the searches found is stored. The generic kernel
/// computing something wrong is an error of class Verification.
Result<std::optional<SizedTuned>> tune_sized(const SizedWorkload& workload, const codegen::Target& target,
                                             const TuningRequest& request, const Session& session, const Watch& watch);

}  // namespace tile_tune::engine
