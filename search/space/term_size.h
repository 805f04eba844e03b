// How much code a term of a statement is.
#pragma once

#include <cstdint>

#include "frontend/ir/expr.h"

namespace tile_tune::search {

/// How many simple operations the functions in it compile like. Bounded, so that every term may be computed once.
int64_t operations_of_functions(const ir::Expr& term);

}  // namespace tile_tune::search
