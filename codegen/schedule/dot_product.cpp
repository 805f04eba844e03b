#include "codegen/schedule/dot_product.h"

#include <algorithm>

namespace tile_tune::codegen {
namespace {

/// The read below a conversion to `type`; null if the expression is anything else.
const ir::Read* widened_read(const ir::ExprPtr& expr, DType type, DType& narrow) {
  const auto* cast = std::get_if<ir::Cast>(&expr->node);
  if (!cast || expr->type != type) return nullptr;
  narrow = cast->argument->type;
  return std::get_if<ir::Read>(&cast->argument->node);
}

/// Iterations an instruction takes of factors of these types; 0 if there is none.
int width_of(DType row, DType column, DType sum) {
  const auto is_byte = [](DType type) { return type == DType::I8 || type == DType::U8; };
  if (sum == DType::F32) return row == DType::BF16 && column == DType::BF16 ? 2 : 0;
  if (sum != DType::I32) return 0;
  if (row == DType::I16 && column == DType::I16) return 2;
  const bool both_unsigned = row == DType::U8 && column == DType::U8;
  return is_byte(row) && is_byte(column) && !both_unsigned ? 4 : 0;
}

/// The dimension whose subscript is the index plus a multiple of `width`, if no other uses the index.
std::optional<int> dimension_of(const ir::Statement& statement, const Operand& operand, int index, int width) {
  std::optional<int> found;
  for (size_t d = 0; d < operand.subscripts.size(); ++d) {
    const auto& affine = std::get<ir::AffineExpr>(operand.subscripts[d]);
    if (affine.coefficient(index) == 0) continue;
    const int64_t first = ir::range(statement.indices[index]).lo + affine.constant.constant().value();
    if (found || affine.terms.size() != 1 || affine.coefficient(index) != 1 || first % width != 0) return std::nullopt;
    found = static_cast<int>(d);
  }
  return found;
}

}  // namespace

std::optional<DotProduct> dot_product(const ir::Program& program, const ir::Statement& statement, const Loops& loops,
                                      const StageSchedule& stage) {
  const auto* product = std::get_if<ir::Call>(&statement.value->node);
  if (!product || product->op != ir::Op::Mul || statement.op != ir::Aggregation::Sum || loops.reduction.empty())
    return std::nullopt;
  if (stage.vector_loop < 0 || stage.vector_loop >= static_cast<int>(loops.output.size())) return std::nullopt;
  DType types[2] = {};
  for (const int i : {0, 1})
    if (!widened_read(product->arguments[i], statement.accumulator, types[i]) || !loops.operands[i].affine)
      return std::nullopt;
  // Both reads are affine, so that they are the statement's operands 0 and 1.
  const auto walks = [&](int operand) {
    return loops.stride(program, loops.operands[operand], stage.vector_loop) != 0;
  };
  if (walks(0) == walks(1)) return std::nullopt;
  DotProduct dot;
  dot.column = walks(0) ? 0 : 1;
  const DType row = types[1 - dot.column], column = types[dot.column];
  dot.width = width_of(row, column, statement.accumulator);
  dot.loop = stage.reduction_order.back();
  dot.shifted = row == DType::I8 && column == DType::I8;
  // Where a constraint drops terms, the sum that sets the shift right would have to drop them, too.
  if (dot.width == 0 || (dot.shifted && !statement.constraints.empty())) return std::nullopt;
  if (loops.reduction[dot.loop] < 1 || loops.reduction[dot.loop] % dot.width != 0) return std::nullopt;
  const auto dimension =
      dimension_of(statement, loops.operands[dot.column], loops.reduction_index[dot.loop], dot.width);
  if (!dimension) return std::nullopt;
  dot.dimension = *dimension;
  return dot;
}

}  // namespace tile_tune::codegen
