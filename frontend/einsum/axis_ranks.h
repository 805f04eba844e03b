// What a network looks like apart from its spelling: the same whatever order its operands are written in.
#pragma once

#include <vector>

#include "frontend/einsum/resolve.h"

namespace tile_tune::einsum {

/// A rank for each axis: those of the result first, in its order, then by extents and, in rounds, by the operands (of
/// `types`) that the axis is in. Axes of one rank are alike. Extents are known.
std::vector<int> axis_ranks(const Resolved& resolved, const std::vector<DType>& types);

}  // namespace tile_tune::einsum
