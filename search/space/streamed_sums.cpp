#include "search/space/streamed_sums.h"

#include <algorithm>
#include <numeric>

#include "codegen/schedule/packed_form.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/default_parallel.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Operand;

// The output loop beside that of the vectors, if there is but one: -1 where there is none.
std::optional<int> only_row_loop(const TileLayout& layout) {
  int row_loop = -1;
  for (int p = 0; p < layout.outputs(); ++p) {
    if (p == layout.tile.vector_loop || layout.context.loops.output[p] <= 1) continue;
    if (row_loop >= 0) return std::nullopt;
    row_loop = p;
  }
  return row_loop;
}

int64_t rows_of(const TileLayout& layout, int row_loop) {
  return row_loop < 0 ? 1 : layout.context.loops.output[row_loop];
}

// Rows of few outputs and vectors beside each other: what a register tile loads for its multiply-adds.
struct SumsTile {
  int64_t rows = 1, vectors = 1;
  double loads() const { return static_cast<double>(rows + vectors) / static_cast<double>(rows * vectors); }
};

// `steps`: of the sum, that are unrolled.
SumsTile sums_tile(const TileLayout& layout, int row_loop, int64_t steps) {
  const auto& context = layout.context;
  const int64_t registers = context.target->vector_registers / (is_complex(context.type) ? 2 : 1);
  const int64_t rows = rows_of(layout, row_loop);
  const int64_t vectors = context.loops.output[layout.tile.vector_loop] / layout.tile.lanes;
  // A register of its own where a broadcast is no part of the instruction (AVX-512): with AVX2 tiles of 7 x 16 took 254
  // us of (8192 x 256)^T by 8192 x 7, 177 of 7 x 8, with AVX-512 of 7 x 64 150, 7 x 48 157 (two Zen 4 cores,
  // 2026-11-28).
  const int64_t broadcasts = context.target->vector_bytes < 64 ? 1 : 0;
  SumsTile best;
  for (int64_t r = 1; r <= std::min(rows, registers); ++r)
    for (int64_t v = 1; v <= std::min(costs::kMostVectors, vectors); ++v) {
      const bool fits = r * v + std::min(r, v) * steps + broadcasts <= registers;  // with what is held of an operand
      if (const SumsTile tile{r, v}; fits && rows % r == 0 && tile.loads() < best.loads()) best = tile;
    }
  return best;
}

// The divisor of a sum nearest to what is wanted; 0: none is near.
int64_t block_near(int64_t wanted, int64_t sum) {
  for (int64_t apart = 0; apart <= wanted / 4; ++apart)
    for (const int64_t block : {wanted - apart, wanted + apart})
      if (sum % block == 0) return block;
  return 0;
}

}  // namespace

// A long sum into few outputs, which all wait in the first cache while the operands, each element of which is read
// once from beyond the second, pass by a few steps of the sum at a time: (8192 x 256)^T by 8192 x 7 took 1060 us by
// register tiles with copies for them, 245 so, (4096 x 1024)^T by 4096 x 3 1150 and 240 (AVX2 on two Zen 4 cores,
// 2026-11-27). The sum's pieces are shared out (run_reduction_in_parallel()).
std::optional<NestSchedule> sums_in_first_cache(const TileLayout& layout) {
  // Of 8 to 250 the fastest; rows pages apart fall into the same sets of the first cache: of 3 x 4096 by 4096 x 1024 64
  // of them took 1430 us, 16 253.
  constexpr int64_t kMostSteps = 64, kMostPages = 16, kLeastSteps = 8, kMostStreams = 8;
  constexpr double kRepeated = 1.15;  // chosen: work that the last tile does again
  const auto& context = layout.context;
  const auto& tile = layout.tile;
  const int v = tile.vector_loop;
  const auto size = static_cast<int64_t>(dtype_size(context.type));
  if (v >= layout.outputs() || context.reductions() != 1 || keeps_order(context) || iterations_in_lane(context) > 1 ||
      !context.loops.direct || is_complex(context.type))
    return std::nullopt;
  const auto only_row = only_row_loop(layout);
  if (!only_row) return std::nullopt;
  const int row_loop = *only_row;
  const int64_t outputs = rows_of(layout, row_loop) * context.loops.output[v];
  double bytes = 0;
  int64_t most_steps = kMostSteps;
  for (const auto& operand : context.loops.operands) {
    if (layout.stride(operand, layout.outputs()) * size >= costs::kWayBytes) most_steps = kMostPages;
    if (!operand.affine || (layout.in_panel(operand) && layout.stride(operand, v) != 1) ||
        codegen::is_packed_beforehand(*context.program, operand) ||
        context.program->tensors[operand.tensor].type != context.type)
      return std::nullopt;
    // Rows that lie along the sum are streams of their own: 104 of 4096 by 4096 x 16 took 63 us by register tiles, 273
    // so.
    const bool is_many_streams = row_loop >= 0 && context.loops.output[row_loop] > kMostStreams &&
                                 layout.stride(operand, row_loop) > layout.stride(operand, layout.outputs());
    if (is_many_streams) return std::nullopt;
    bytes += layout.bytes_of(operand);
  }
  const int64_t sum = context.loops.reduction[0];
  if (outputs * size > context.target->l1_bytes / 2 || bytes <= static_cast<double>(context.target->l2_bytes) ||
      sum < outputs)
    return std::nullopt;
  const SumsTile sums = sums_tile(layout, row_loop, 1);
  const int64_t extent = context.loops.output[v], step = sums.vectors * tile.lanes;
  int64_t pieces = 1, home = 0;
  do home = ((extent + pieces - 1) / pieces + step - 1) / step * step;
  while (home > extent && ++pieces * step <= extent);
  const int64_t tiles = (extent + home - 1) / home;
  if (home > extent || static_cast<double>(home * tiles) > kRepeated * static_cast<double>(extent)) return std::nullopt;
  const auto pieces_of_sum = pieces_for_threads(context, tile.lanes, static_cast<double>(tiles), 0);
  if (!pieces_of_sum) return std::nullopt;
  const int64_t steps = largest_divisor_up_to(sum / *pieces_of_sum, most_steps);
  if (steps < kLeastSteps) return std::nullopt;
  NestSchedule stage;
  stage.cpu().vector_loop = v;
  stage.cpu().lanes = tile.lanes;
  stage.tiles.assign(layout.outputs(), {1, 1});
  stage.tiles[v] = {home, step};
  if (row_loop >= 0) stage.tiles[row_loop] = {context.loops.output[row_loop], sums.rows};
  std::vector<int> order(layout.outputs());
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(), [&](int p) { return p != v; });
  stage.order = {order, order};
  stage.reduction_order = {0};
  stage.reduction_block = {steps};
  stage.reduction_unroll = {1};
  return stage;
}

// The vector operand where it comes from memory and is used once, by few rows of results: it is read in long pieces of
// its own rows, which lie pages apart, a few of them at a time, and the sums wait in the first cache. 8 x 1024 by 1024
// x 13160 took 5.7 ms with 48 columns at a time, 2.3 so, (1024 x 8)^T 4.1 and 2.4; what the last cache holds is slower
// so (8 x 512 by 512 x 2048: 76 and 93 us; two Zen 4 cores, 2026-11-26 and 28).
void read_in_long_pieces(const TileLayout& layout, NestSchedule& stage) {
  // Of 8, 16 and 32 steps: 7 x 8272 by 8272 x 3437 took 8.3 to 8.8 ms with 8, 9.9 with 16, 4 x 2048 by 2048 x 8192 2.2
  // and 2.8 (two Zen 4 cores, 2026-11-28).
  constexpr int64_t kSteps = 8, kUnrolled = 2, kMostRows = 16;
  const auto& context = layout.context;
  const int v = layout.tile.vector_loop;
  const auto size = static_cast<int64_t>(dtype_size(context.type));
  if (stage.order.size() > 1 || !stage.packings.empty() || context.reductions() != 1 || keeps_order(context)) return;
  const auto row_loop = only_row_loop(layout);
  if (!row_loop || (*row_loop >= 0 && layout.kind(*row_loop) != TileLayout::Kind::Row)) return;
  const int64_t rows = rows_of(layout, *row_loop);
  if (rows > kMostRows) return;
  const auto is_streamed = [&](const Operand& operand) {
    return operand.affine && layout.stride(operand, v) == 1 &&
           layout.stride(operand, context.outputs()) * size >= costs::kWayBytes &&
           layout.bytes_of(operand) >
               static_cast<double>(std::max(context.target->l2_bytes, context.target->l3_bytes / 2));
  };
  if (std::none_of(context.loops.operands.begin(), context.loops.operands.end(), is_streamed)) return;
  const int64_t block = block_near(kSteps, context.loops.reduction[0]);
  const SumsTile sums = sums_tile(layout, *row_loop, kUnrolled);
  const int64_t extent = context.loops.output[v], tile = sums.vectors * layout.tile.lanes;
  const int64_t most = std::min(context.target->l1_bytes / 2 / (rows * size),
                                extent / (int64_t{kPiecesPerThread} * context.target->threads));
  if (block == 0 || most < 2 * tile) return;
  stage.tiles.assign(layout.outputs(), {1, 1});
  stage.tiles[v] = {most / tile * tile, tile};
  if (*row_loop >= 0) stage.tiles[*row_loop] = {rows, sums.rows};
  stage.order.push_back(stage.order.front());
  stage.reduction_block = {block};
  stage.reduction_unroll = {static_cast<int>(block % kUnrolled == 0 ? kUnrolled : 1)};
}

}  // namespace tile_tune::search
