// e^x of f32, in vectors: fewer instructions than Halide's own, and right where that one is not.
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// e^x where x is f32: within 1 ulp (4 are allowed: frontend/reference/tolerance.h), also where the result is
/// subnormal; NaN and infinities as in C. A call that stands for it until expand_exponentials().
Halide::Expr exponential(const Halide::Expr& x);

/// The expression with the arithmetic of every exponential() in it. To be asked last, when what has to be strict is:
/// the polynomial is to become fused multiply-adds.
Halide::Expr expand_exponentials(const Halide::Expr& expr);

}  // namespace tile_tune::codegen
