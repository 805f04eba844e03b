// Orders of many operands: no longer the best, but good ones.
#pragma once

#include <cstdint>

#include "frontend/plan/order.h"

namespace tile_tune::plan {

/// How much a search does. It is counted in steps of work, not in seconds: the same program has the same order, by
/// which records find it, on every machine and however busy that is.
struct Effort {
  int greedy_trees = 0;     // random greedy orders
  int annealings = 0;       // of so many of the best of them
  double rotations = 0;     // tried in an annealing
  size_t exact_leaves = 0;  // largest part of a tree that is put into its best order
  uint64_t seed = 0;
};

/// What planning takes without being told: 30 operands in 0.1 s, 200 in 0.5 to 1.2 s; 120 with labels of up to four of
/// them in 2.3 s (CPU time on two Zen 4 cores, 2026-11-24).
Effort usual_effort(size_t operands);

/// Two or more operands, extents above 0. Without an order, more labels than it counts: left to right.
Order searched_order(const std::vector<AxisSet>& operands, const AxisSet& needed, const std::vector<double>& extents,
                     const Cost& cost, const Effort& effort);

}  // namespace tile_tune::plan
