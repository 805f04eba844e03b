// Where the elements of a tensor lie in memory: what a Layout means.
#pragma once

#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// The dimensions of an array of this rank, that of neighbours in memory first.
std::vector<int> memory_order(Layout layout, size_t rank);
std::vector<int> memory_order(const Tensor& tensor);

}  // namespace tile_tune::ir
