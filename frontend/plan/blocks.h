// Which operands become one piece each before a last step multiplies the pieces all at once.
#pragma once

#include <vector>

#include "frontend/plan/order.h"

namespace tile_tune::plan {

/// What the last step of a product does: it visits these axes in any case, and multiplies so many others.
struct LastStep {
  AxisSet visited;
  size_t others = 0;
};

/// The block of each operand, numbered as they come, by the least cost of the blocks' steps and of the last one; one of
/// several operands alone is summed beforehand over what it alone has. From two to kMaxExact operands. `needed`: axes
/// used outside, those of the last step among them.
std::vector<size_t> best_blocks(const std::vector<AxisSet>& operands, const AxisSet& needed,
                                const std::vector<double>& extents, const Cost& cost, const LastStep& last);

}  // namespace tile_tune::plan
