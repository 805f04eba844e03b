// What powers and the gamma functions share.
#pragma once

#include "codegen/lower/functions/arithmetic.h"

namespace tile_tune::codegen::functions {

/// log2 x of a positive normal f64, within some 2^-64.
Pair binary_logarithm(Names& names, const Halide::Expr& x);

}  // namespace tile_tune::codegen::functions
