// What a running search tells the outside: every trial to the sink that keeps it, and its progress to whoever watches.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "frontend/diagnostic/diagnostic.h"
#include "search/judge/trial.h"
#include "search/predict/quality.h"

namespace tile_tune::search {

/// Keeps trials (the database, in the command line's hands). The search calls it for each trial of a batch as soon as
/// the batch returns and before the next is bred, in the order of Trial::sequence, so that a killed process loses at
/// most the batch in flight. A failure ends the search: a trial that cannot be kept is not worth measuring.
class TrialSink {
 public:
  virtual ~TrialSink() = default;
  virtual Result<void> on_trial(const Trial& trial) = 0;
};

enum class Phase {
  Seeding,    // the default, prior schedules, random ones
  Searching,  // bred batches
  Finals,     // the finalists are about to be timed
  Done,
};

/// Sent after each batch, before the finals and at the end.
struct Progress {
  Phase phase = Phase::Seeding;
  int generation = 0;
  int trials = 0;                           // tried in this invocation; replayed ones and finals not counted
  int replayed = 0;                         // taken from the unfinished session
  std::optional<int> trials_left;           // where the budget names trials
  std::optional<double> seconds_left;       // where the budget names seconds; the finals' share included; at least 0
  double best_ratio = 0;                    // speed of the best so far relative to the default; 0 until one verified
  double best_ns = 0;                       // its time
  double improved_at = 0;                   // when it was found, by Surroundings::clock
  std::map<Outcome, int> outcomes;          // of the session, replayed trials included
  std::optional<predict::Quality> quality;  // of the model's predictions so far, each made before it was measured
};
using ProgressCallback = std::function<void(const Progress&)>;

}  // namespace tile_tune::search
