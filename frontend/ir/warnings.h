// What is legal but hardly meant, and shows in the finished program, more of it once the sizes are known.
#pragma once

#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// Warnings of class Program about a program, placed at their statements: "empty-domain" where no assignment of a
/// statement's indices is valid whatever the arrays hold; and of reductions over part of an operand
/// (partial_reductions.h). Where sizes have names, only what holds for all of them.
std::vector<Diagnostic> warnings_of(const Program& program);

}  // namespace tile_tune::ir
