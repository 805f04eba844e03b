#include "search/evolve/simulate.h"

#include <algorithm>

#include "search/timing/statistics.h"

namespace tile_tune::search {
namespace {

/// Counts trials until the marks are passed, then stops the search.
struct Marks : TrialSink {
  Marks(double best_ratio, int trials) : best(best_ratio), to_90(trials + 1), to_95(trials + 1) {}

  Result<void> on_trial(const Trial& trial) override {
    if (trial.origin == "final") return {};
    ++count;
    if (trial.measurement.outcome != Outcome::Ok) return {};
    if (trial.measurement.ratio >= 0.90 * best) to_90 = std::min(to_90, count);
    if (trial.measurement.ratio >= 0.95 * best) to_95 = std::min(to_95, count);
    stop = to_95 <= count;
    return {};
  }

  const double best;
  int count = 0;
  int to_90, to_95;
  std::atomic<bool> stop = false;
};

}  // namespace

Result<Replay> replay(Recording& recording, Strategy strategy, int seeds, int trials) {
  Replay replay;
  replay.size = static_cast<int>(recording.size());
  replay.best_ratio = recording.best_ratio();
  const Moves moves = recording.moves();
  std::vector<double> to_90, to_95;
  for (int seed = 1; seed <= seeds; ++seed) {
    Marks marks(replay.best_ratio, trials);
    const TuneOptions options{.seed = static_cast<uint64_t>(seed), .budget = {.trials = trials}, .strategy = strategy};
    const Surroundings surroundings{.clock = [] { return 0.0; }, .stop = marks.stop, .progress = {}};
    TILE_TUNE_TRY(report, tune(moves, recording, marks, {}, options, surroundings));
    to_90.push_back(marks.to_90);
    to_95.push_back(marks.to_95);
    replay.reached_90 += marks.to_90 <= trials;
    replay.reached_95 += marks.to_95 <= trials;
    replay.quality += report.quality;
  }
  replay.to_90 = median(to_90);
  replay.to_95 = median(to_95);
  return replay;
}

}  // namespace tile_tune::search
