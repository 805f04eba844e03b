// What a network looks like apart from its spelling: the same whatever order its operands are written in.
#pragma once

#include <vector>

#include "frontend/plan/network.h"

namespace tile_tune::plan {

/// A rank for each axis: those of the result first, in its order, then by extents and, in rounds, by the operands (of
/// the network's types) that the axis is in. Axes of one rank are alike. Extents are known.
std::vector<int> axis_ranks(const Network& network);

}  // namespace tile_tune::plan
