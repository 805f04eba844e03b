// What is legal but hardly meant, and shows only once the sizes are known.
#pragma once

#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// Warnings of class Program about a bound program, placed at their statements: "empty-domain" where no assignment of a
/// statement's indices is valid whatever the arrays hold; and of reductions over part of an operand
/// (partial_reductions.h).
std::vector<Diagnostic> warnings_of(const Program& bound);

}  // namespace tile_tune::ir
