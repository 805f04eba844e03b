// Statements rebuilt with some of their parts replaced.
#pragma once

#include <functional>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// What to do with the parts of an expression; children of a node are rewritten before the node itself.
struct Rewriter {
  std::function<void(AffineExpr&)> affine = [](AffineExpr&) {};
  std::function<void(Expr&)> node = [](Expr&) {};
};

ExprPtr rewrite(const Expr& original, const Rewriter& rewriter);
/// The target's subscripts, the constraints and the value.
void rewrite(Statement& statement, const Rewriter& rewriter);

/// Index i gets the number new_number[i], a permutation.
void renumber_indices(Statement& statement, const std::vector<int>& new_number);

}  // namespace tile_tune::ir
