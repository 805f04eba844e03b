// The order in which the factors of a term are multiplied. Written left to right, a(i,k) * v(k) * b(k,j) in a register
// tile of 14 rows by 2 vectors takes 14 products for v beside its 28 multiply-adds; a(i,k) * (v(k) * b(k,j)) takes 2.
// A float sum's terms may be multiplied in any order (frontend/ir/canonical.h).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "codegen/lower/expression.h"

namespace tile_tune::codegen {

/// How many different values an expression has, and so how often it is computed, where these indices vary; by
/// statement index.
using CountValues = std::function<double(const std::vector<bool>& varies)>;

/// A term that is a product of three or more real floats: of two factors at a time those with the fewest different
/// products. nullopt: it is none.
std::optional<Values> multiply_factors(const ir::Expr& term, const std::vector<Halide::Expr>& indices,
                                       const ReadOperand& read_operand, const CountValues& count_values);

}  // namespace tile_tune::codegen
