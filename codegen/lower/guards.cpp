#include "codegen/lower/guards.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "codegen/lower/expression.h"
#include "frontend/ir/gather.h"

namespace tile_tune::codegen {

using Halide::Expr;

Expr constraints_hold(const ir::Statement& statement, const std::vector<Expr>& indices) {
  Expr all = Halide::Internal::const_true();
  for (const auto& constraint : statement.constraints) {
    const Expr position = to_halide(constraint.expr, indices);
    all = all && position >= 0 && position < static_cast<int>(constraint.bound.constant().value());
  }
  return Halide::Internal::simplify(all);
}

std::optional<Expr> some_assignment_holds(const ir::Statement& statement, const std::vector<Expr>& indices) {
  struct Bounds {
    Expr least, most;
  };
  std::map<int, Bounds> bounds;  // by reduction index
  Expr all = Halide::Internal::const_true();
  for (const auto& constraint : statement.constraints) {
    const int bound = static_cast<int>(constraint.bound.constant().value());
    ir::AffineExpr rest = constraint.expr;
    std::optional<std::pair<int, int64_t>> reduction;
    for (const auto& term : constraint.expr.terms) {
      if (!statement.is_reduction(term.first)) continue;
      if (reduction) return std::nullopt;
      reduction = term;
      std::erase(rest.terms, term);
    }
    const Expr position = to_halide(rest, indices);
    if (!reduction) {
      all = all && position >= 0 && position < bound;
      continue;
    }
    const auto range = ir::range(statement.indices[reduction->first]);
    const auto [at, inserted] =
        bounds.try_emplace(reduction->first, Bounds{static_cast<int>(range.lo), static_cast<int>(range.hi - 1)});
    // 0 <= position + step * r < bound, solved for r; Halide's division by a positive number floors.
    const bool rises = reduction->second > 0;
    const int step = static_cast<int>(std::abs(reduction->second));
    const Expr low = rises ? -position : position - (bound - 1), high = rises ? bound - 1 - position : position;
    at->second.least = Halide::max(at->second.least, (low + (step - 1)) / step);
    at->second.most = Halide::min(at->second.most, high / step);
  }
  for (const auto& [index, bound] : bounds) all = all && bound.least <= bound.most;
  return Halide::Internal::simplify(all);
}

Assignment assignment_of(const ir::Statement& statement, const std::vector<Halide::Expr>& elements) {
  const auto pivots = ir::pivots_of(statement).value();
  std::vector<Halide::Expr> values(statement.indices.size());
  Halide::Expr exists = Halide::Internal::const_true();
  for (size_t d = 0; d < elements.size(); ++d) {
    // Pivots as positions in their ranges fill the rest like digits: each is less than the factor before.
    for (const auto& pivot : pivots[d])
      values[pivot.index] = static_cast<int>(ir::range(statement.indices[pivot.index]).lo);
    Halide::Expr rest = Halide::Internal::simplify(elements[d] - to_halide(statement.subscripts[d], values));
    exists = exists && rest >= 0;
    for (const auto& [index, factor] : pivots[d]) {
      const auto range = ir::range(statement.indices[index]);
      const int step = static_cast<int>(factor), last = static_cast<int>(range.extent()) - 1;
      const Halide::Expr position = step == 1 ? rest : rest / step;
      exists = exists && position <= last;
      values[index] = Halide::clamp(position, 0, last) + static_cast<int>(range.lo);
      rest = step == 1 ? Halide::Expr(0) : rest % step;
    }
    exists = exists && rest == 0;
  }
  return {std::move(values), Halide::Internal::simplify(exists)};
}

}  // namespace tile_tune::codegen
