#include "search/space/choices.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "codegen/schedule/check.h"
#include "codegen/schedule/masked_vector.h"
#include "codegen/target/costs.h"
#include "search/space/register_tile.h"

namespace tile_tune::search {

namespace costs = codegen::costs;

namespace {

bool can_cut(const StageContext& context, int r, int pieces) {
  codegen::NestSchedule cut;
  cut.parallel_reduction = codegen::ParallelReduction{r, pieces};
  return codegen::left_over(context.loops, cut) <=
         codegen::most_left_over(context.target->device == codegen::Device::Gpu);
}

}  // namespace

std::vector<int> lane_choices(const StageContext& context, int64_t extent) {
  const int natural = std::max(context.target->lanes(context.type), 2);
  std::vector<int> result;
  for (int lanes = std::max(natural / 2, 2); lanes <= 2 * natural; lanes *= 2)
    if (lanes <= extent) result.push_back(lanes);
  if (result.empty() && extent >= 2) {
    int lanes = 2;
    while (lanes * 2 <= extent) lanes *= 2;
    result.push_back(lanes);
  }
  return result;
}

int masked_lanes(const StageContext& context, int loop) {
  if (loop >= context.outputs() || usual_dot_product(context) != DotForm::None) return 0;
  const int64_t extent = context.loops.output[loop];
  if (extent < 3 || extent >= context.target->lanes(context.type)) return 0;
  const auto lanes = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(extent)));
  if (lanes == extent) return 0;
  // Neighbours or copies of them; windows that slide along the vector are clamped by more than its end.
  const int index = context.loops.output_index[loop];
  const auto is_suited = [&](const codegen::Operand& operand) {
    if (!context.loops.is_walked(operand, loop)) return true;
    const DType type = context.program->tensors[operand.tensor].type;
    return operand.affine && context.target->has_masked_loads(static_cast<int>(dtype_size(type)) * 8, is_float(type)) &&
           std::all_of(operand.subscripts.begin(), operand.subscripts.end(), [&](const ir::Subscript& subscript) {
             const auto& affine = std::get<ir::AffineExpr>(subscript);
             return affine.coefficient(index) == 0 || affine.terms.size() == 1;
           });
  };
  const auto& operands = context.loops.operands;
  if (!std::all_of(operands.begin(), operands.end(), is_suited)) return 0;
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = loop;
  stage.cpu().lanes = lanes;
  stage.order.resize(1);
  stage.tiles.assign(context.outputs(), {lanes});
  stage.reduction_block = context.loops.reduction;
  return codegen::masked_vector_fault(*context.program, context.statement, context.loops, stage).empty() ? lanes : 0;
}

std::vector<int64_t> register_tiles(const StageContext& context, const codegen::NestSchedule& stage, int p) {
  const int64_t step = p == stage.cpu().vector_loop ? stage.cpu().lanes : 1;
  // More rows or vectors than the 32 registers of the widest machines hold in any useful shape. Narrower vectors reach
  // as far (500 products 72x26x72 ran at 99 % of the FMA peak in tiles of 9 half vectors x 2 rows, whose results are
  // whole rows, at 87 with 1 vector x 4 rows; Zen 4).
  const int natural = context.target->lanes(context.type);
  const int64_t most = p != stage.cpu().vector_loop
                           ? costs::kMostRows
                           : costs::kMostVectorsInRow * std::clamp(natural / stage.cpu().lanes, 1, 2);
  std::vector<int64_t> result;
  for (int64_t n = 1; n <= most && n * step <= std::max<int64_t>(context.loops.output[p], 1); ++n)
    result.push_back(n * step);
  if (result.empty()) result.push_back(step);  // a vector that is longer than the loop
  return result;
}

std::vector<int64_t> tile_multiples(int64_t inner, int64_t extent) {
  std::vector<int64_t> result;
  for (int64_t power = 1; power * inner <= extent; power *= 2) {
    result.push_back(power);
    if (power >= 2 && power / 2 * 3 * inner <= extent) result.push_back(power / 2 * 3);
  }
  if (extent / inner >= 1) result.push_back(around_all(inner, extent) / inner);
  if (result.empty()) result.push_back(1);  // an empty loop still has its one tile
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

int64_t around_all(int64_t inner, int64_t extent) {
  const int64_t tiles = (extent + inner - 1) / inner;
  return extent % inner == 0 ? extent : tiles == 3 ? inner : (tiles + 1) / 2 * inner;
}

int64_t largest_divisor_up_to(int64_t number, int64_t limit) {
  for (int64_t d = std::min(number, std::max<int64_t>(limit, 1)); d > 1; --d)
    if (number % d == 0) return d;
  return 1;
}

std::vector<int64_t> block_choices(int64_t extent) {
  std::vector<int64_t> result;
  for (int64_t d = 1; d * d <= extent; ++d) {
    if (extent % d != 0) continue;
    for (const int64_t divisor : {d, extent / d})
      // Windows are walked row by row.
      if (divisor >= costs::kLeastBlock || divisor == extent || extent < costs::kLeastBlock) result.push_back(divisor);
  }
  if (result.empty()) result.push_back(std::max<int64_t>(extent, 1));
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<int64_t> uneven_block_choices(int64_t extent) {
  std::vector<int64_t> result = block_choices(extent);
  for (int64_t block = costs::kLeastBlock; block < extent; block *= 2) result.push_back(block);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<int64_t> unroll_choices(int64_t block) {
  if (block < 1) return {1};
  std::vector<int64_t> result;
  for (int64_t d = 1; d <= std::min(block, costs::kMostUnrolledIterations); ++d)
    if (block % d == 0) result.push_back(d);
  return result;
}

std::vector<int64_t> uneven_unroll_choices(int64_t block) {
  std::vector<int64_t> result(static_cast<size_t>(std::clamp<int64_t>(block, 1, costs::kMostUnrolledIterations)));
  std::iota(result.begin(), result.end(), 1);
  return result;
}

std::vector<int> piece_choices(int64_t extent, int most) {
  std::vector<int> result;
  for (int pieces = 2; pieces <= std::min<int64_t>(extent, most); ++pieces)
    if (extent % pieces == 0) result.push_back(pieces);
  return result;
}

std::vector<int> uneven_piece_choices(const StageContext& context, int r) {
  std::vector<int> result;
  for (int pieces = 2; pieces <= std::min<int64_t>(context.loops.reduction[r], codegen::kMostPieces); ++pieces)
    if (context.loops.reduction[r] % pieces == 0 ||
        (std::has_single_bit(static_cast<unsigned>(pieces)) && can_cut(context, r, pieces)))
      result.push_back(pieces);
  return result;
}

int most_pieces_up_to(const StageContext& context, int r, int most) {
  int pieces = static_cast<int>(std::min<int64_t>(most, context.loops.reduction[r]));
  while (pieces > 1 && !can_cut(context, r, pieces)) --pieces;
  return pieces;
}

std::vector<int> vector_loops(const StageContext& context) {
  std::vector<int> result;
  for (int p = 0; p < context.outputs(); ++p)
    if (context.loops.output[p] >= 2) result.push_back(p);
  for (int r = 0; r < context.reductions(); ++r)
    if (context.loops.reduction[r] >= 2) result.push_back(context.outputs() + r);
  return result;
}

std::vector<int> packable_operands(const StageContext& context) {
  std::vector<int> result;
  for (const auto& operand : context.loops.operands)
    if (operand.affine && !operand.subscripts.empty() && context.loops.first_like(operand.number) == operand.number)
      result.push_back(operand.number);
  return result;
}

std::vector<int> packing_depths(const StageContext& context, const codegen::NestSchedule& stage) {
  std::vector<int> result{0};
  if (stage.compute_at) result.push_back(-1);
  const int most = context.outputs() * static_cast<int>(stage.order.size());
  for (int depth = std::max(stage.cpu().parallel, 1); depth <= most; ++depth) result.push_back(depth);
  return result;
}

codegen::Packing panel_packing(const StageContext& context, const codegen::NestSchedule& stage, int number) {
  const auto& operand = context.loops.operands[number];
  const auto at = std::find(stage.order[0].begin(), stage.order[0].end(), stage.cpu().vector_loop);
  const int depth = std::max(static_cast<int>(at - stage.order[0].begin()) + 1, stage.cpu().parallel);
  const auto& tensor = context.program->tensors[operand.tensor];
  std::vector<int> storage(tensor.extents.size());
  std::iota(storage.begin(), storage.end(), 0);
  const auto distances = ir::strides(tensor);
  const int index = context.loops.output_index[stage.cpu().vector_loop];
  auto walks_vector = [&](int d) { return std::get<ir::AffineExpr>(operand.subscripts[d]).coefficient(index) != 0; };
  std::stable_sort(storage.begin(), storage.end(), [&](int a, int b) {
    if (walks_vector(a) != walks_vector(b)) return walks_vector(a);
    return std::abs(distances[a]) < std::abs(distances[b]);
  });
  return {number, depth, storage};
}

double log_reduction_loops(const StageContext& context) {
  double log_count = 0, pieces = 1;
  for (int r = 0; r < context.reductions(); ++r) {
    const int64_t extent = context.loops.reduction[r];
    const bool on_gpu = context.target->device == codegen::Device::Gpu;
    const auto blocks = on_gpu ? block_choices(extent) : uneven_block_choices(extent);
    const bool may_be_uneven = !on_gpu && r == 0;  // of the innermost, whichever it is
    const auto unrolls = may_be_uneven ? uneven_unroll_choices(extent) : unroll_choices(extent);
    log_count += std::log(r + 1.0) + std::log(static_cast<double>(blocks.size())) +
                 std::log(static_cast<double>(unrolls.size()));
    if (context.loops.direct)
      pieces += static_cast<double>((on_gpu ? piece_choices(extent) : uneven_piece_choices(context, r)).size());
  }
  return log_count + std::log(pieces);
}

}  // namespace tile_tune::search
