// How much code a term of a statement is.
#pragma once

#include <cstdint>

#include "frontend/ir/program.h"

namespace tile_tune::search {

/// How many simple operations the functions in it compile like. Bounded, so that every term may be computed once.
int64_t operations_of_functions(const ir::Expr& term);

/// Operations of one iteration of a statement: those of its term, functions as what they compile like, and the one that
/// adds it up, which takes a product along. None of a copy.
int64_t operations_of_iteration(const ir::Statement& statement);

}  // namespace tile_tune::search
