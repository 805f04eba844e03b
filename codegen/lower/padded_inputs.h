// Zero-padded copies of inputs, as one writes padding in Halide.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// The bound program with sums of products over a tensor's valid positions as sums over a copy with zeros around it,
/// made by a statement of its own; constraints that only kept such a subscript inside its tensor are gone. Equal for
/// finite data. Our own schedules cut loops at the border instead; Halide's automatic schedulers look at the
/// expressions alone, where a padded Func is what their authors' examples use (BoundaryConditions).
ir::Program with_padded_inputs(ir::Program program);

}  // namespace tile_tune::codegen
