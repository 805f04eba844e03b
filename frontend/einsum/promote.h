// Element types of an einsum: the lattice of tensors (decision 1), unlike TC's rules.
#pragma once

#include "frontend/tensor/dtype.h"

namespace tile_tune::einsum {

/// The type two operands meet in: a float must hold every value of an integer (i32 with f32 gives f64), i64 and u64
/// give f64; a complex number's parts follow the same rule. Otherwise as tile_tune::promote.
DType common_type(DType a, DType b);

/// Whether `to` holds every value of `from`, as the lattice sees it (i64 may become f64).
bool holds(DType to, DType from);

}  // namespace tile_tune::einsum
