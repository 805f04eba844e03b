// The orders of a few operands that cost little, for who can tell better than by FLOP which of them is fast.
#pragma once

#include <vector>

#include "frontend/plan/order.h"

namespace tile_tune::plan {

/// Most operands of which every order is looked at: 945 of six.
inline constexpr size_t kMaxCompared = 6;

/// The orders that cost at most `within` times as much as the cheapest, that one first, no more than `most`; each
/// once, whichever operand of a step comes first. From two to kMaxCompared operands. `needed`: axes used outside.
std::vector<Order> cheap_orders(const std::vector<AxisSet>& operands, const AxisSet& needed,
                                const std::vector<double>& extents, const Cost& cost, double within, size_t most);

}  // namespace tile_tune::plan
