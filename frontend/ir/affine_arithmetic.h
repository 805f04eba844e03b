// Arithmetic that stays affine, for front ends and for conditions in values.
#pragma once

#include <optional>

#include "frontend/ir/expr.h"

namespace tile_tune::ir {

/// factor * a + b; nullopt where a number does not fit 64 bits.
std::optional<AffineExpr> multiply_add(int64_t factor, const AffineExpr& a, const AffineExpr& b);

/// An operation that sizes alone may have (* / % min max); nullopt of another, and of a division by 0.
std::optional<SizeExpr> on_sizes(Op op, const SizeExpr& a, const SizeExpr& b);

}  // namespace tile_tune::ir
