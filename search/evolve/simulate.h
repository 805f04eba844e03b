// Strategies compared on a recorded space: how many trials each needs to come near the best that was recorded.
#pragma once

#include <vector>

#include "search/evolve/recording.h"
#include "search/evolve/tune.h"

namespace tile_tune::search {

struct Replay {
  int size = 0;                        // schedules recorded
  double best_ratio = 0;               // of them, relative to the default
  double to_90 = 0, to_95 = 0;         // median over the seeds of the trials to 90 and 95 % of the best speed; a search
                                       // that does not get there counts as one trial more than it was given
  int reached_90 = 0, reached_95 = 0;  // seeds that got there
  predict::Quality quality;            // of the model's predictions, all seeds together
};

/// Runs `strategy` with seeds 1 to `seeds`, each until 95 % or until `trials` are spent or nothing is left to try.
Result<Replay> replay(Recording& recording, Strategy strategy, int seeds, int trials);

}  // namespace tile_tune::search
