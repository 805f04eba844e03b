// Signs by their bit. Halide writes -x as 0 - x, which makes +0 of +0, and takes |x| by a comparison that leaves zeros
// as they are.
#pragma once

#include "Halide.h"

namespace tile_tune::codegen {

/// -x and |x| of floats, zeros and NaN included.
Halide::Expr negated(const Halide::Expr& x);
Halide::Expr magnitude(const Halide::Expr& x);

/// One of two values, as it is: of a choice between floats LLVM takes for granted that neither NaN nor an infinity
/// comes out and that zeros have no sign (x == 0 ? 0 : x would be x).
Halide::Expr chosen(const Halide::Expr& condition, const Halide::Expr& if_true, const Halide::Expr& if_false);

/// For a choice in several steps: a float as a word of its bits, and back; other types as they are.
Halide::Expr word_of(const Halide::Expr& x);
Halide::Expr value_of(const Halide::Type& type, const Halide::Expr& word);

}  // namespace tile_tune::codegen
