#include "search/evolve/budget.h"

#include <algorithm>
#include <cmath>

namespace tile_tune::search {
namespace {

// Finals are at least 31 paired rounds or a second, in two passes (autotuners.md 6.2, item 7; ruling 7 for the 31).
constexpr int kFinalRounds = 31;
constexpr int kFinalPasses = 2;
constexpr double kFinalPassSeconds = 1;

// However dear the finals look, the search keeps half of the time: finals without candidates decide nothing.
constexpr double kMostForFinals = 0.5;

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

double finals_seconds(const Cost& cost, int finalists, double round_ns) {
  return finalists * cost.per_candidate() +  // they are built again, in a fresh process
         kFinalPasses * std::max(kFinalPassSeconds, kFinalRounds * round_ns * 1e-9);
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
