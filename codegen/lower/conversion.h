// Numbers in other types: the one rule of docs/meaning.md for casts, stores and accumulators.
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// `value` as a number of `type`: floats round and keep NaN and infinities; integers from floats are truncated,
/// saturate and are 0 for NaN; integers from integers keep their low bits; bools ask whether a number is not 0.
Halide::Expr convert(const Halide::Expr& value, const Halide::Type& type);

/// Which LLVM may not take for false.
Halide::Expr not_a_number(const Halide::Expr& x);

}  // namespace tile_tune::codegen
