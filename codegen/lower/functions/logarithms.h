// What the logarithms and the inverse hyperbolic functions share.
#pragma once

#include "codegen/lower/functions/arithmetic.h"

namespace tile_tune::codegen::functions {

/// 2^e * (1 + f + rest) with 1 + f in [sqrt(1/2), sqrt(2)); e is a whole number. The rest may be undefined: 0.
struct Logarithmic {
  Halide::Expr e, f, rest;
};

/// A positive finite number so.
Logarithmic split(Names& names, const Halide::Expr& x);

/// 1 + z so, for finite z > -1, without the error of the sum; z itself where `is_large`. The low word of a pair is the
/// rest.
Logarithmic split_sum(Names& names, const Halide::Expr& z, const Halide::Expr& is_large);
Logarithmic split_sum(Names& names, const Pair& z, const Halide::Expr& is_large);

/// The natural logarithm.
Halide::Expr logarithm(Names& names, const Logarithmic& x);

}  // namespace tile_tune::codegen::functions
