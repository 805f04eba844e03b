// In which type operations are done.
#pragma once

#include "frontend/tensor/dtype.h"

namespace tile_tune::ir {

/// What front ends convert the operands of an operation on `type` to: f16 and bf16 only store numbers, so that a
/// statement on them is computed in f32 and rounded once, where it is stored. validate() holds programs to it.
inline DType operation_type(DType type) { return type == DType::F16 || type == DType::BF16 ? DType::F32 : type; }

}  // namespace tile_tune::ir
