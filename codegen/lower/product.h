// The order in which the factors of a term are multiplied. Written left to right, a(i,k) * v(k) * b(k,j) in a register
// tile of 14 rows by 2 vectors takes 14 products for v beside its 28 multiply-adds; a(i,k) * (v(k) * b(k,j)) takes 2.
// A float sum's terms may be multiplied in any order (frontend/ir/canonical.h).
#pragma once

#include <optional>
#include <vector>

#include "codegen/lower/expression.h"
#include "codegen/schedule/loops.h"

namespace tile_tune::codegen {

/// A term that is a product of three or more real floats: of two factors at a time those with the fewest different
/// products. nullopt: it is none. `contiguous`: the output loop along which results are neighbours in memory, or -1.
/// The order does not depend on the schedule, so that all round alike.
std::optional<Values> multiply_factors(const ir::Expr& term, const std::vector<Halide::Expr>& indices,
                                       const ReadOperand& read_operand, const Loops& loops, int contiguous);

}  // namespace tile_tune::codegen
