#include "search/evolve/budget.h"

#include <algorithm>
#include <cmath>

namespace tile_tune::search {
namespace {

// As the worker processes time them: at least 31 rounds, and on until two seconds are spent (measure/workers.h).
constexpr int kFinalRounds = 31;
constexpr double kFinalSeconds = 2;

// However dear the finals look, the search keeps half of the time: finals without candidates decide nothing.
constexpr double kMostForFinals = 0.5;

// Finals of long kernels have fewer challengers, so that they take less of the time than this: 31 rounds of five
// kernels of 85 ms took 13 s of 30, in which no third batch was tried (128 x 4096 x 16384, two Zen 4 cores).
constexpr double kDearFinals = 0.25;

}  // namespace

void Cost::add_batch(int candidates, double seconds) {
  if (candidates == 0) return;
  if (!first_seen_) {
    first_seen_ = true;
    return;
  }
  candidates_ += candidates;
  seconds_ += seconds;
}

double finals_seconds(const Cost& cost, double round_ns) {
  // What was built stays; a fresh process reads the problem and fills buffers once more, as for a candidate.
  return cost.per_candidate() + std::max(kFinalSeconds, kFinalRounds * round_ns * 1e-9);
}

bool too_long_for_finals(const Budget& budget, double round_ns) {
  return budget.seconds && kFinalRounds * round_ns * 1e-9 > kDearFinals * *budget.seconds;
}

int allowed(const Budget& budget, const Spent& spent, const Cost& cost, double reserve, int wanted) {
  int count = wanted;
  if (budget.trials) count = std::min(count, *budget.trials - spent.trials);
  if (budget.seconds) {
    const double left = *budget.seconds - std::min(reserve, kMostForFinals * *budget.seconds) - spent.seconds;
    if (left <= 0) return 0;
    if (cost.per_candidate() > 0)
      count = static_cast<int>(std::min<double>(count, std::floor(left / cost.per_candidate())));
  }
  return std::max(count, 0);
}

}  // namespace tile_tune::search
