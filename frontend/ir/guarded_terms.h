// Guarded reads as factors of a sum: their conditions become constraints, as Tile's validity has it.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// A sum's statement with the terms left out at which a factor is a select's 0 instead of what it would read. Such a
/// factor is a select (in products, casts and negations) with a branch that reads and a literal 0 in the other one; of
/// its condition counts what indices and sizes decide. Comparisons that must all hold become constraints; any other
/// condition becomes that of one select around the whole term. Other statements, and sums whose elements without a term
/// have a value of their own (`unwritten`), stay as they are. Sizes may have names.
Statement leave_out_guarded_terms(Statement statement);

}  // namespace tile_tune::ir
