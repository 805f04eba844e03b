#include "codegen/schedule/dot_product.h"

#include <array>
#include <utility>

#include "codegen/schedule/matrix_tiles.h"

namespace tile_tune::codegen {
namespace {

/// Types of the two reads, converted to the accumulators' type, whose products a sum adds up.
std::optional<std::array<DType, 2>> narrow_factors(const ir::Statement& statement) {
  const auto* product = std::get_if<ir::Call>(&statement.value->node);
  if (!product || product->op != ir::Op::Mul || statement.op != ir::Aggregation::Sum) return std::nullopt;
  std::array<DType, 2> types{};
  for (const size_t i : {0, 1}) {
    const auto* cast = std::get_if<ir::Cast>(&product->arguments[i]->node);
    if (!cast || product->arguments[i]->type != statement.accumulator ||
        !std::holds_alternative<ir::Read>(cast->argument->node))
      return std::nullopt;
    types[i] = cast->argument->type;
  }
  return types;
}

bool is_byte(DType type) { return type == DType::I8 || type == DType::U8; }

/// Iterations an instruction takes of factors of these types; 0 if there is none.
int width_of(DType row, DType column, DType sum) {
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

/// dp4a takes four neighbours of each operand wherever these lie, as they are.
std::optional<DotProduct> dot_product_on_gpu(const ir::Statement& statement, const Loops& loops,
                                             const NestSchedule& stage, const std::array<DType, 2>& types) {
  DotProduct dot;
  dot.width = width_of(types[0], types[1], statement.accumulator);
  dot.loop = stage.reduction_order.back();
  dot.column = -1;
  const int64_t extent = loops.reduction[static_cast<size_t>(dot.loop)];
  if (dot.width != 4 || extent < 1 || extent % dot.width != 0) return std::nullopt;
  return dot;
}

/// Pairs of neighbours in each lane; what fills no vector takes the way of other reductions in lanes.
std::optional<DotProduct> dot_product_in_lanes(const Loops& loops, const NestSchedule& stage,
                                               const std::array<DType, 2>& types, DType sum) {
  DotProduct dot;
  dot.loop = stage.reduction_order.back();
  dot.in_lanes = true;
  dot.column = -1;
  const int loop = static_cast<int>(loops.output.size()) + dot.loop;
  const int64_t lanes = stage.cpu().lanes;
  if (stage.cpu().vector_loop != loop || width_of(types[0], types[1], sum) == 0 ||
      loops.reduction[static_cast<size_t>(dot.loop)] < dot.width * lanes || !loops.is_walked(loops.operands[0], loop) ||
      !loops.is_walked(loops.operands[1], loop))
    return std::nullopt;
  return dot;
}

}  // namespace

std::optional<DType> dot_product_type(const ir::Statement& statement) {
  const auto factors = narrow_factors(statement);
  if (!factors || width_of((*factors)[0], (*factors)[1], statement.accumulator) == 0) return std::nullopt;
  return (*factors)[0] == DType::U8 ? DType::I8 : (*factors)[0];
}

bool leaves_shifted_out(const ir::Statement& statement) {
  const auto factors = narrow_factors(statement);
  return factors && (*factors)[0] == DType::I8 && (*factors)[1] == DType::I8 && !statement.constraints.empty();
}

bool has_dot_products_of(const Target& target, DType type) {
  return target.has_dot_products() || (type == DType::I16 && has_pairs(target, type));
}

bool has_pairs(const Target& target, DType type) {
  const bool is_x86 = target.device == Device::Cpu && target.platform.architecture == Architecture::X86;
  return target.has_dot_products() || (is_x86 && type != DType::BF16);
}

std::optional<DotProduct> dot_product(const ir::Statement& statement, const Loops& loops, const NestSchedule& stage) {
  const auto types = narrow_factors(statement);
  if (!types || loops.reduction.empty() || !loops.operands[0].affine || !loops.operands[1].affine) return std::nullopt;
  if (stage.is_gpu()) return dot_product_on_gpu(statement, loops, stage, *types);
  if (stage.cpu().vector_loop >= static_cast<int>(loops.output.size()))
    return dot_product_in_lanes(loops, stage, *types, statement.accumulator);
  if (stage.cpu().vector_loop < 0) return std::nullopt;
  // Both reads are affine, so that they are the statement's operands 0 and 1.
  const auto walks = [&](int operand) { return loops.is_walked(loops.operands[operand], stage.cpu().vector_loop); };
  if (walks(0) == walks(1)) return std::nullopt;
  DotProduct dot;
  dot.column = walks(0) ? 0 : 1;
  const DType row = (*types)[1 - dot.column], column = (*types)[dot.column];
  dot.widened = stage.dot_pairs;
  if (dot.widened && !is_byte(column)) return std::nullopt;
  dot.width = width_of(row, column, statement.accumulator) / (dot.widened ? 2 : 1);
  dot.loop = stage.reduction_order.back();
  dot.shifted = row == DType::I8 && column == DType::I8 && !dot.widened && !stage.dot_tiles;
  if (dot.width == 0 || (dot.shifted && leaves_shifted_out(statement))) return std::nullopt;
  const int64_t extent = loops.reduction[dot.loop];
  const bool is_whole = stage.reduction_block[dot.loop] >= extent;
  if (extent < dot.width || (extent % dot.width != 0 && !is_whole)) return std::nullopt;
  const auto dimension =
      dimension_of(statement, loops.operands[dot.column], loops.reduction_index[dot.loop], dot.width);
  if (!dimension) return std::nullopt;
  dot.dimension = *dimension;
  return dot;
}

NestSchedule without_dot_product(NestSchedule stage, int outputs) {
  stage = without_matrix_tiles(std::move(stage));
  stage.dot_product = stage.dot_pairs = false;
  for (size_t r = 0; r < stage.reduction_unroll.size(); ++r)
    if (stage.vector_loop() != outputs + static_cast<int>(r) &&
        stage.reduction_block[r] % stage.reduction_unroll[r] != 0)
      stage.reduction_unroll[r] = 1;
  return stage;
}

}  // namespace tile_tune::codegen
