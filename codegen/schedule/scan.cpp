#include "codegen/schedule/scan.h"

#include <algorithm>

namespace tile_tune::codegen {
namespace {

bool mentions(const ir::Expr& expr, int index) {
  if (const auto* value = std::get_if<ir::IndexValue>(&expr.node)) return value->index == index;
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) return mentions(*cast->argument, index);
  if (const auto* read = std::get_if<ir::Read>(&expr.node))
    return std::any_of(read->subscripts.begin(), read->subscripts.end(), [&](const ir::Subscript& subscript) {
      if (const auto* affine = std::get_if<ir::AffineExpr>(&subscript)) return affine->coefficient(index) != 0;
      return mentions(*std::get<ir::ExprPtr>(subscript), index);
    });
  if (const auto* call = std::get_if<ir::Call>(&expr.node))
    return std::any_of(call->arguments.begin(), call->arguments.end(),
                       [&](const ir::ExprPtr& argument) { return mentions(*argument, index); });
  return false;
}

}  // namespace

std::optional<Scan> scan_of(const ir::Statement& statement, const Loops& loops) {
  if (!loops.direct || loops.reduction.size() != 1 || statement.constraints.size() != 1 ||
      statement.op == ir::Aggregation::Assign)
    return std::nullopt;
  const auto& [expr, bound] = statement.constraints[0];
  const int k = loops.reduction_index[0];
  if (expr.denominator != 1 || expr.terms.size() != 2 || std::abs(expr.coefficient(k)) != 1) return std::nullopt;
  const auto [i, along] = expr.terms[expr.terms[0].first == k ? 1 : 0];
  const auto found = std::find(loops.output_index.begin(), loops.output_index.end(), i);
  if (std::abs(along) != 1 || found == loops.output_index.end() || mentions(*statement.value, i)) return std::nullopt;

  // 0 <= c + a * i + b * k < bound, solved for k: low + s * i <= k <= high + s * i.
  const int64_t constant = expr.constant.constant().value(), most = bound.constant().value() - 1;
  const bool rises = expr.coefficient(k) > 0;
  const int64_t low = rises ? -constant : constant - most, high = rises ? most - constant : constant;
  const auto of_i = ir::range(statement.indices[i]), of_k = ir::range(statement.indices[k]);
  if (of_i.extent() <= 0 || of_k.extent() <= 0) return std::nullopt;
  Scan scan;
  scan.loop = static_cast<int>(found - loops.output_index.begin());
  const int64_t step = rises ? -along : along, first = step * loops.first[scan.loop];
  const int64_t at_ends[] = {step * of_i.lo, step * (of_i.hi - 1)};
  const auto [least, largest] = std::minmax(at_ends[0], at_ends[1]);
  if (low + largest <= of_k.lo) {
    scan.first = high + first - of_k.lo + 1;
    scan.step = static_cast<int>(step);
    return scan;
  }
  if (high + least < of_k.hi - 1) return std::nullopt;
  scan.reversed = true;
  scan.first = of_k.hi - low - first;
  scan.step = static_cast<int>(-step);
  return scan;
}

}  // namespace tile_tune::codegen
