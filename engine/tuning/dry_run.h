// What a search would be like, without beginning it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/session/session.h"
#include "engine/tuning/tuning_request.h"

namespace tile_tune::engine {

/// How large it is, what it begins with, and how long it will take.
struct DryRun {
  double log10_schedules = 0;
  std::vector<std::pair<std::string, double>> log10_choices;  // by group of decisions; the sum is that of all
  search::Budget budget;
  double trial_seconds_low = 0, trial_seconds_high = 0;  // of one trial; equal where the databases hold such trials
  bool measured = false;                                 // they do
  std::string stored_best;                               // its rung, or empty
  int stored_trials = 0;                                 // of this program, target and tool
  int relatives = 0;  // whose schedules are tried, where nothing of its own is stored

  /// The whole search, in seconds.
  double seconds_low() const;
  double seconds_high() const;
};

/// Changes nothing, starts nothing.
Result<DryRun> dry_run(const Workload& workload, const codegen::Target& target, const TuningRequest& request,
                       const Session& session);

}  // namespace tile_tune::engine
