#include "search/evolve/budget.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/timing/statistics.h"

namespace tile_tune::search {
namespace {

// 31 rounds of five kernels of 85 ms took 13 s of 30, in which no third batch was tried (128 x 4096 x 16384, two Zen 4
// cores): finals decide among what a search has found, which takes the time.
constexpr double kMostForFinals = 0.1;

// Kernels of so long calls that a tenth has no time for the fewest rounds lost all that was found: 1.30 times the
// default's speed after 52 s of 60, of a default of 0.67 s (AVX2 on two Zen 3 cores, 2026-11-30). Chosen.
constexpr double kMostForLongCalls = 0.25;

// Every finalist is called three times before the first round and, to be compared, once behind the last; of long calls
// it is one call before, and the time of three for the last look. A tenth is left to answer in (workers.cpp).
constexpr int kCallsBesideRounds = 6;

// Batches end a little later than they were to.
constexpr double kSpare = 1.1;

double seconds_of_rounds(int rounds, double round_ns) { return (kCallsBesideRounds + rounds) * round_ns * 1e-9; }

double seconds_of_short_finals(double round_ns) {
  return seconds_of_rounds(static_cast<int>(kFewestForInterval), round_ns);
}

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
  return cost.per_candidate() + std::max(kFinalsSeconds, kFewestRounds * round_ns * 1e-9);
}

double most_for_finals(const Budget& budget, double round_ns) {
  if (!budget.seconds) return std::numeric_limits<double>::infinity();
  const double whole = budget.whole.value_or(*budget.seconds);
  return std::max(kMostForFinals * whole,
                  std::min(kMostForLongCalls * whole, kSpare * seconds_of_short_finals(round_ns)));
}

bool has_time_for_finals(double seconds, double round_ns) {
  return seconds_of_rounds(kFewestRounds, round_ns) <= seconds;
}

bool has_time_for_short_finals(double seconds, double round_ns) { return seconds_of_short_finals(round_ns) <= seconds; }

int allowed(const Budget& budget, const Spent& spent, const Cost& cost, double reserve, int wanted) {
  int count = wanted;
  if (budget.trials) count = std::min(count, *budget.trials - spent.trials);
  if (budget.seconds) {
    const double left = *budget.seconds - reserve - spent.seconds;
    if (left <= 0) return 0;
    if (cost.per_candidate() > 0)
      count = static_cast<int>(std::min<double>(count, std::floor(left / cost.per_candidate())));
  }
  return std::max(count, 0);
}

}  // namespace tile_tune::search
