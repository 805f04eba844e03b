// How much code a term of a statement is.
#pragma once

#include <cstdint>

#include "frontend/ir/expr.h"

namespace tile_tune::search {

/// How many simple operations the functions in it compile like. Functions are code of some length: 32 vectors of f32
/// more take LLVM 0.1 to 0.2 s (exp, erf, tanh), of the longest 0.8 (pow) to 2.7 (tan), 512 multiply-adds 0.28 (Zen 4).
/// Bounded, so that every term may be computed once.
int64_t operations_of_functions(const ir::Expr& term);

}  // namespace tile_tune::search
