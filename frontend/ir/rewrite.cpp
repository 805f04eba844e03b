#include "frontend/ir/rewrite.h"

#include <algorithm>

namespace tile_tune::ir {

ExprPtr rewrite(const Expr& original, const Rewriter& rewriter) {
  Expr expr = original;
  if (auto* read = std::get_if<Read>(&expr.node)) {
    for (auto& subscript : read->subscripts) {
      if (auto* affine = std::get_if<AffineExpr>(&subscript))
        rewriter.affine(*affine);
      else
        subscript = rewrite(*std::get<ExprPtr>(subscript), rewriter);
    }
  } else if (auto* call = std::get_if<Call>(&expr.node)) {
    for (auto& argument : call->arguments) argument = rewrite(*argument, rewriter);
  } else if (auto* cast = std::get_if<Cast>(&expr.node)) {
    cast->argument = rewrite(*cast->argument, rewriter);
  }
  rewriter.node(expr);
  return std::make_shared<const Expr>(std::move(expr));
}

void rewrite(Statement& statement, const Rewriter& rewriter) {
  for (auto& subscript : statement.subscripts) rewriter.affine(subscript);
  for (auto& constraint : statement.constraints) rewriter.affine(constraint.expr);
  statement.value = rewrite(*statement.value, rewriter);
}

void renumber_indices(Statement& statement, const std::vector<int>& new_number) {
  std::vector<Index> indices(statement.indices.size());
  for (size_t i = 0; i < indices.size(); ++i) indices[new_number[i]] = std::move(statement.indices[i]);
  statement.indices = std::move(indices);
  rewrite(statement, {[&](AffineExpr& expr) {
                        for (auto& term : expr.terms) term.first = new_number[term.first];
                        std::sort(expr.terms.begin(), expr.terms.end());
                      },
                      [&](Expr& expr) {
                        if (auto* value = std::get_if<IndexValue>(&expr.node)) value->index = new_number[value->index];
                      }});
}

}  // namespace tile_tune::ir
