// Which labels of an einsum to fix, one value after the other, so that its intermediates need no more memory than there
// is.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/plan/order.h"

namespace tile_tune::engine {

/// A network of operands in a fixed order of contractions.
struct OrderedNetwork {
  std::vector<plan::AxisSet> operands;
  plan::AxisSet result;
  std::vector<double> extents;  // by axis
  double element_bytes = 4;     // of what steps leave
  plan::Order order;
};

struct SlicedCost {
  double bytes = 0;      // most of what steps leave and later ones take, at a time; the result is not among it
  double all_bytes = 0;  // of all that steps leave
  double flops = 0;      // of all slices: one for each product
};
/// With these axes fixed.
SlicedCost cost_of(const OrderedNetwork& network, const plan::AxisSet& fixed);

/// Axes to fix, each of `candidates`, so that no more than `limit` bytes are needed: one after the other, each time the
/// one that brings the memory down for the least arithmetic. Where that is not enough, all that brought it down.
plan::AxisSet axes_to_fix(const OrderedNetwork& network, const plan::AxisSet& candidates, double limit);

}  // namespace tile_tune::engine
