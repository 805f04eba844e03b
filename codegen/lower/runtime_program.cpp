#include "codegen/lower/runtime_program.h"

#include <algorithm>
#include <map>
#include <optional>

#include "codegen/schedule/runtime_sizes.h"
#include "frontend/ir/rewrite.h"

namespace tile_tune::codegen {
namespace {

/// Coefficients of the runtime sizes in a number, by size; numbers are affine (with_names()).
std::vector<std::pair<size_t, int64_t>> sizes_in(const ir::SizeExpr& number, size_t count) {
  std::vector<std::pair<size_t, int64_t>> result;
  for (const auto& [coefficient, atom] : number.terms())
    for (size_t k = 0; k < count; ++k)
      if (atom->name == runtime_name(k)) result.emplace_back(k, coefficient);
  return result;
}

ir::Statement with_sizes_as_indices(ir::Statement statement, size_t count) {
  const auto first = static_cast<int>(statement.indices.size());
  const auto affine = [&](ir::AffineExpr& expr) {
    for (const auto& [k, coefficient] : sizes_in(expr.constant, count))
      expr.terms.emplace_back(first + static_cast<int>(k), coefficient);
    expr.constant = expr.constant.offset();
  };
  const auto node = [&](ir::Expr& expr) {
    const auto* value = std::get_if<ir::SizeValue>(&expr.node);
    if (!value) return;
    const ir::SizeExpr size = value->size;
    ir::ExprPtr sum = ir::make_expr(expr.type, ir::SizeValue{size.offset()});
    for (const auto& [k, coefficient] : sizes_in(size, count)) {
      const auto index = ir::make_expr(expr.type, ir::IndexValue{first + static_cast<int>(k)});
      const auto factor = ir::make_expr(expr.type, ir::SizeValue{coefficient});
      sum = ir::make_expr(
          expr.type, ir::Call{ir::Op::Add, {sum, ir::make_expr(expr.type, ir::Call{ir::Op::Mul, {factor, index}})}});
    }
    expr = *sum;
  };
  ir::rewrite(statement, {affine, node});
  return statement;
}

/// True if the ranges alone keep the subscript inside [0, extent) at all sizes.
bool stays_inside_always(const ir::Statement& named, const ir::AffineExpr& subscript, const ir::SizeExpr& extent) {
  if (subscript.denominator != 1) return false;
  ir::SizeExpr low = subscript.constant, high = subscript.constant;
  for (const auto& [index, coefficient] : subscript.terms) {
    const auto& range = named.indices[index];
    const ir::SizeExpr first = ir::SizeExpr(coefficient) * range.lo, last = ir::SizeExpr(coefficient) * (range.hi - 1);
    low = low + (coefficient > 0 ? first : last);
    high = high + (coefficient > 0 ? last : first);
  }
  const auto least = low.constant(), room = (extent - 1 - high).constant();
  return least && room && *least >= 0 && *room >= 0;
}

}  // namespace

RuntimeProgram::RuntimeProgram(const ir::Program& program, const RuntimeSizes& runtime,
                               std::vector<Halide::Expr> values)
    : named_(with_names(program, runtime)), values_(std::move(values)), guarded_(runtime.guarded) {
  for (const auto& statement : named_.statements) spelled_.push_back(with_sizes_as_indices(statement, values_.size()));
}

Halide::Expr RuntimeProgram::number(const ir::SizeExpr& size) const {
  Halide::Expr sum = static_cast<int>(size.offset());
  for (const auto& [k, coefficient] : sizes_in(size, values_.size()))
    sum = values_[k] * static_cast<int>(coefficient) + sum;
  return Halide::Internal::simplify(sum);
}

bool RuntimeProgram::reads_inside_always(size_t statement, int operand, size_t dimension) const {
  const auto& named = named_.statements[statement];
  std::optional<bool> inside;
  int seen = 0;
  ir::for_each_read(*named.value, [&](const ir::Read& read) {
    if (seen++ == operand)
      inside = stays_inside_always(named, std::get<ir::AffineExpr>(read.subscripts[dimension]),
                                   named_.tensors[read.tensor].extents[dimension]);
  });
  return inside.value_or(false);
}

}  // namespace tile_tune::codegen
