// What kernels can count: extents, strides and positions are numbers of 32 bits.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// Whether kernels of a bound program can count its elements: extents and strides of its tensors (in numbers, of which
/// a complex element has two), ranges of its indices, and the terms of subscripts and constraints, in whatever order
/// they are added, are below 2^31 by some room for tiles. Class Mismatch, "too-large", with the first that is not.
Result<void> check_countable(const ir::Program& program);

/// Whether all outputs of a bound program are empty, so that no kernel is needed to compute them.
bool computes_nothing(const ir::Program& program);

}  // namespace tile_tune::codegen
