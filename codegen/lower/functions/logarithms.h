// What the logarithms and the inverse hyperbolic functions share.
#pragma once

#include "codegen/lower/functions/arithmetic.h"

namespace tile_tune::codegen::functions {

/// 2^e * (1 + f + rest) with 1 + f in [sqrt(1/2), sqrt(2)); e is a whole number. The rest may be undefined: 0.
struct Logarithmic {
  Halide::Expr e, f, rest;
};

/// A positive normal number so, and any positive finite one.
Logarithmic split(Names& names, const Halide::Expr& x);
Logarithmic split_any(Names& names, const Halide::Expr& x);

/// 1 + z so, for z > -1 that is not large, without the error of the sum. The low word of a pair is the rest.
Logarithmic split_sum(Names& names, const Halide::Expr& z);
Logarithmic split_sum(Names& names, const Pair& z);

/// The natural logarithm.
Halide::Expr logarithm(Names& names, const Logarithmic& x);

/// atanh(s) = s + more, of |s| <= 0.282: log((1 + s) / (1 - s)) / 2.
Halide::Expr area_rest(Names& names, const Halide::Expr& s);

}  // namespace tile_tune::codegen::functions
