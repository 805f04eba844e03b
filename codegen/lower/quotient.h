// Division by what stays the same along a row: softmax divides every element of a row by the row's sum.
#pragma once

#include "codegen/lower/stage_loops.h"

namespace tile_tune::codegen {

/// The value of an element-wise stage with every quotient of f32 or f64 numbers whose divisor reads tensors at
/// positions that all elements of a row of results share, as a product with the divisor's reciprocal, which is computed
/// once a row; if the rows are long enough to pay for it, whatever the schedule, so that all round alike. Off by one
/// ulp at most; NaN, infinities, zeros and subnormal numbers come out as of a division. Before strict_float.
/// Which quotients these are depends on the rows' direction and length: those of a deterministic stage stay divisions.
Halide::Expr with_shared_reciprocals(const Halide::Expr& value, const StageLoops& stage);

}  // namespace tile_tune::codegen
