// What the sines and the gamma functions share.
#pragma once

#include "codegen/lower/functions/arithmetic.h"

namespace tile_tune::codegen::functions {

/// sin(r) of f64 as an unevaluated sum, |r| <= pi / 2.
Pair sine_of(Names& names, const Pair& r);

}  // namespace tile_tune::codegen::functions
