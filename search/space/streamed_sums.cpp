#include "search/space/streamed_sums.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "codegen/schedule/packed_form.h"
#include "codegen/schedule/prefetch.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/default_parallel.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Operand;

// Rows that share what is read in long pieces (read_in_long_pieces()).
constexpr int64_t kFewRows = 16;

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
      if (const SumsTile tile{r, v}; fits && rows % r == 0 && tile.loads() <= best.loads()) best = tile;
    }
  return best;
}

// Register tiles of a part of the outputs that is computed at a time.
struct HomeTile {
  int64_t rows = 0, width = 0;
  SumsTile tile;
};

// The stage of tiles in homes, to which so many steps of the sum come at a time. `row_loop`: -1 where there is none.
NestSchedule sums_at_home(const TileLayout& layout, int row_loop, const HomeTile& home, int64_t steps) {
  const int v = layout.tile.vector_loop;
  NestSchedule stage;
  stage.cpu().vector_loop = v;
  stage.cpu().lanes = layout.tile.lanes;
  stage.tiles.assign(layout.outputs(), {1, 1});
  stage.tiles[v] = {home.width, home.tile.vectors * layout.tile.lanes};
  if (row_loop >= 0) stage.tiles[row_loop] = {home.rows, home.tile.rows};
  std::vector<int> order(layout.outputs());
  std::iota(order.begin(), order.end(), 0);
  std::stable_partition(order.begin(), order.end(), [&](int p) { return p != v; });
  stage.order = {order, order};
  stage.reduction_order = {0};
  stage.reduction_block = {steps};
  stage.reduction_unroll = {1};
  return stage;
}

// Of homes of up to `most` elements, `fewest` or more of them and no smaller than `least_home`, that with which all
// outputs take the fewest operations, those that last tiles compute again included.
HomeTile best_home(const TileLayout& layout, int64_t rows, int64_t extent, int64_t most, int64_t fewest,
                   const HomeTile& least_home) {
  const int64_t registers = layout.context.target->vector_registers, lanes = layout.tile.lanes;
  HomeTile best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t r = 1; r <= std::min(rows, registers); ++r)
    for (int64_t v = 1; v <= std::min(costs::kMostVectors, extent / lanes); ++v) {
      if (r * v + std::min(r, v) + 1 > registers) break;
      // Of vectors that begin anywhere half are on two lines where two fill one, all where one does.
      const double lines = 1 + static_cast<double>(layout.context.target->vector_bytes) / codegen::kLineBytes;
      const auto loads = static_cast<double>(r) * costs::kBroadcast + lines * static_cast<double>(v);
      const double step = step_time(static_cast<double>(r * v), loads, 1, costs::kInFlight);
      for (int64_t home_rows = r; home_rows <= rows; home_rows += r)
        for (int64_t width = v * lanes; width <= extent && home_rows * width <= most; width += v * lanes) {
          if (home_rows < least_home.rows || width < least_home.width) continue;
          const int64_t all = round_up(rows, home_rows) * round_up(extent, width);
          if (all / (home_rows * width) < fewest) break;
          const auto elements = static_cast<double>(all);
          const double operations = elements / static_cast<double>(r * v * lanes) * step;
          // Of equal ones the largest, that read least again.
          const bool is_better =
              operations < least || (operations == least && home_rows * width > best.rows * best.width);
          if (!is_better) continue;
          least = operations;
          best = {home_rows, width, {r, v}};
        }
    }
  return best;
}

// The divisor of a sum nearest to what is wanted, or that, whose last block is shorter, where none is near.
int64_t block_near(int64_t wanted, int64_t sum) {
  for (int64_t apart = 0; apart <= wanted / 4; ++apart)
    for (const int64_t block : {wanted - apart, wanted + apart})
      if (sum % block == 0) return block;
  return wanted;
}

// Of up to `most` elements, in tiles, that which threads are done with first, of equals the largest: the last one is
// moved back and computes some again. 0: there are too few. (4177 x 1332)^T by 4177 x 16 took 1.19 times as long in
// nine of 160 rows as in six of 224 (AVX2 on two Zen 4 cores, 2026-11-29).
int64_t home_shared_out(int64_t extent, int64_t tile, int64_t most, int threads) {
  int64_t best = 0, least = std::numeric_limits<int64_t>::max();
  for (int64_t home = std::min(most, extent / (2 * threads)) / tile * tile; home >= tile; home -= tile) {
    const int64_t pieces = (extent + home - 1) / home, turns = (pieces + threads - 1) / threads;
    if (turns > 2 * kPiecesPerThread && best > 0) break;
    if (turns * home >= least) continue;
    least = turns * home;
    best = home;
  }
  return best;
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
  if (step == extent && sums.rows == rows_of(layout, row_loop)) return std::nullopt;  // registers have all of them
  int64_t pieces = 1, home = 0;
  do home = round_up((extent + pieces - 1) / pieces, step);
  while (home > extent && ++pieces * step <= extent);
  const int64_t tiles = (extent + home - 1) / home;
  if (home > extent || static_cast<double>(home * tiles) > kRepeated * static_cast<double>(extent)) return std::nullopt;
  const auto cut = cut_for_threads(context, tile.lanes, static_cast<double>(tiles));
  if (!cut && is_worth_threads(context, tile.lanes)) return std::nullopt;
  const int64_t steps_of_piece = cut ? sum / cut->pieces : sum,
                divisor = largest_divisor_up_to(steps_of_piece, most_steps);
  const int64_t steps = 2 * divisor >= most_steps ? divisor : std::min(most_steps, steps_of_piece);
  if (steps < kLeastSteps) return std::nullopt;
  return sums_at_home(layout, row_loop, {rows_of(layout, row_loop), home, sums}, steps);
}

// On more pages than the second TLB knows beside the others'.
bool is_on_many_pages(const TileLayout& layout, const Operand& operand) {
  constexpr double kMostOfTlb = 0.9;  // chosen
  return layout.bytes_of(operand) > kMostOfTlb * static_cast<double>(costs::kPagesOfSecondTlb * costs::kWayBytes);
}

// What a home has at least for an operand of so many pages that it ought to pass by once, whose steps are a quarter of
// one and more apart: all that takes the same of it, and some lines of a step. Of few rows it passes by in long pieces
// (read_in_long_pieces()). (6930 x 48)^T by 6930 x 746 took 6.2 ms with 9 of the 746 at a time, 2.8 to 3.0 with 64 to
// 384, (8192 x 64)^T by 8192 x 257 2.8 and 1.7 (two Emerald Rapids cores, 2026-11-30).
std::optional<HomeTile> home_for_pages(const TileLayout& layout, int64_t rows, int64_t extent) {
  const int64_t lines = 4 * codegen::kLineBytes / static_cast<int64_t>(dtype_size(layout.context.type)),
                width = extent / layout.tile.lanes * layout.tile.lanes;
  for (const Operand& operand : layout.context.loops.operands) {
    const bool is_of_vectors = layout.in_panel(operand);
    if (4 * layout.context.bytes_apart(operand, layout.outputs()) >= costs::kWayBytes &&
        is_on_many_pages(layout, operand) && (is_of_vectors ? rows : extent) > kFewRows)
      return is_of_vectors ? HomeTile{rows, lines, {}} : HomeTile{lines, width, {}};
  }
  return std::nullopt;
}

// 61 x 53 sums of 3000 products took 239 us with AVX2 by tiles of 32 x 2, whose operands came from the second cache for
// each, 174 by 16 x 6, 114 by these in blocks of 100 steps (two Zen 4 cores, 2026-11-29).
std::optional<NestSchedule> sums_by_blocks(const TileLayout& layout) {
  // Chosen: a home is no more than a quarter of the first cache, beside blocks of half of it.
  const auto& context = layout.context;
  const int v = layout.tile.vector_loop;
  const auto size = static_cast<int64_t>(dtype_size(context.type));
  const auto row_loop = only_row_loop(layout);
  if (v >= layout.outputs() || !row_loop || *row_loop < 0 || context.reductions() != 1 || keeps_order(context) ||
      iterations_in_lane(context) > 1 || !context.loops.direct || is_complex(context.type))
    return std::nullopt;
  const int64_t rows = context.loops.output[*row_loop], extent = context.loops.output[v],
                sum = context.loops.reduction[0], l1 = context.target->l1_bytes;
  double bytes = 0;
  for (const auto& operand : context.loops.operands) {
    const bool lies_along = layout.stride(operand, layout.in_panel(operand) ? v : *row_loop) == 1;
    if (!operand.affine || !lies_along || codegen::is_packed_beforehand(*context.program, operand) ||
        context.program->tensors[operand.tensor].type != context.type ||
        layout.stride(operand, layout.outputs()) * size < codegen::kLineBytes)
      return std::nullopt;
    bytes += layout.bytes_of(operand);
  }
  const auto bytes_of_step = [&](int64_t of_rows, int64_t of_vectors) {  // in lines, that begin anywhere
    return (of_rows + of_vectors) * size + 2 * codegen::kLineBytes;
  };
  if (bytes <= static_cast<double>(context.target->l2_bytes)) return std::nullopt;
  const auto least = home_for_pages(layout, rows, extent);
  if (!least && rows * extent * size > l1) return std::nullopt;
  // What a step of the register tile takes from the second cache hides behind its arithmetic: between 64 x 64 sums of
  // 4096 with AVX-512, 16 cycles beside 6.2 lines, which blocks make 0.92 as fast, and with AVX2 all with 1.5 cycles a
  // line and fewer, 1.04 to 2.2 as fast.
  constexpr double kCyclesOfLine = 2;
  const int64_t of_rows = layout.tile.sizes[*row_loop], of_vectors = layout.tile.sizes[v];
  const double cycles = static_cast<double>(of_rows) * static_cast<double>(of_vectors) / layout.tile.lanes /
                        (costs::halves_wide_vectors(*context.target) ? 1 : 2);
  if (!least && kCyclesOfLine * static_cast<double>(bytes_of_step(of_rows, of_vectors)) / codegen::kLineBytes <= cycles)
    return std::nullopt;
  const bool shares = is_worth_threads(context, layout.tile.lanes);
  // It may come from the second cache for so many lines of a step.
  const int64_t most = std::max(l1 / 4 / size, least ? least->rows * least->width : 0);
  const HomeTile home =
      best_home(layout, rows, extent, most, shares ? context.target->threads : 1, least.value_or(HomeTile{}));
  if (home.rows == 0) return std::nullopt;
  const int64_t steps = block_near(std::min(l1 / 2 / bytes_of_step(home.rows, home.width), sum), sum);
  if (steps < kLeastStepsAtHome) return std::nullopt;
  NestSchedule stage = sums_at_home(layout, *row_loop, home, steps);
  if (shares) stage.cpu().parallel = layout.outputs();
  return stage;
}

// The vector operand where it comes from memory and is used once, by few rows of results: it is read in long pieces of
// its own rows, which lie pages apart, a few of them at a time, and the sums wait in the first cache. 8 x 1024 by 1024
// x 13160 took 5.7 ms with 48 columns at a time, 2.3 so, (1024 x 8)^T 4.1 and 2.4; what the last cache holds is slower
// so (8 x 512 by 512 x 2048: 76 and 93 us; two Zen 4 cores, 2026-11-26 and 28). Unless it is on more pages than the
// second TLB knows, each of which every panel comes to: of products of 2 to 16 rows by 1859 to 3480 pages, of 8 to 14
// MB, 15 were 1.1 to 2.9 times as fast so, two 0.96 and 1.02, by 1460 and 1500 pages 0.91 to 1.02 (AVX2 on two Zen 3
// cores, 2026-11-29).
void read_in_long_pieces(const TileLayout& layout, NestSchedule& stage) {
  // Of 8, 16 and 32 steps: 7 x 8272 by 8272 x 3437 took 8.3 to 8.8 ms with 8, 9.9 with 16, 4 x 2048 by 2048 x 8192 2.2
  // and 2.8 (two Zen 4 cores, 2026-11-28).
  constexpr int64_t kSteps = 8, kUnrolled = 2;
  const auto& context = layout.context;
  const int v = layout.tile.vector_loop;
  const auto size = static_cast<int64_t>(dtype_size(context.type));
  const auto row_loop = only_row_loop(layout);
  if (context.reductions() != 1 || keeps_order(context) || !row_loop ||
      (*row_loop >= 0 && layout.kind(*row_loop) != TileLayout::Kind::Row))
    return;
  // Results that are collected to be transposed may wait for it there as well.
  if (stage.order.size() > 1 && (*row_loop < 0 || context.contiguous_loop() != *row_loop)) return;
  const int64_t rows = rows_of(layout, *row_loop);
  if (rows > kFewRows) return;
  const auto far = static_cast<double>(std::max(context.target->l2_bytes, context.target->l3_bytes / 2));
  const auto is_streamed = [&](const Operand& operand) {
    return operand.affine && layout.stride(operand, v) == 1 &&
           !codegen::is_packed_beforehand(*context.program, operand) &&
           layout.stride(operand, context.outputs()) * size >= costs::kWayBytes &&
           (layout.bytes_of(operand) > far || is_on_many_pages(layout, operand));
  };
  if (std::none_of(context.loops.operands.begin(), context.loops.operands.end(), is_streamed)) return;
  if (!std::all_of(stage.packings.begin(), stage.packings.end(), [&](const codegen::Packing& packing) {
        return is_streamed(context.loops.operands[packing.operand]);
      }))
    return;
  const int64_t block = block_near(kSteps, context.loops.reduction[0]);
  const SumsTile sums = sums_tile(layout, *row_loop, kUnrolled);
  const int64_t extent = context.loops.output[v], tile = sums.vectors * layout.tile.lanes;
  const int64_t most = context.target->l1_bytes / 2 / (rows * size);
  const int64_t home = home_shared_out(extent, tile, most, stage.cpu().parallel > 0 ? context.target->threads : 1);
  const bool divides = context.loops.reduction[0] % block == 0;
  if (context.loops.reduction[0] < 2 * kSteps || home < 2 * tile || (!divides && iterations_in_lane(context) > 1))
    return;
  stage.tiles.assign(layout.outputs(), {1, 1});
  stage.tiles[v] = {home, tile};
  if (*row_loop >= 0) stage.tiles[*row_loop] = {rows, sums.rows};
  const auto order = stage.order.front();
  stage.order = {order, order};
  if (stage.cpu().parallel > 0)
    stage.cpu().parallel = static_cast<int>(std::find(order.begin(), order.end(), v) - order.begin()) + 1;
  stage.packings.clear();
  stage.reduction_block = {block};
  const bool unrolls = codegen::most_unrolled(context.loops.reduction[0], block) % kUnrolled == 0;
  stage.reduction_unroll = {static_cast<int>(unrolls ? kUnrolled : 1)};
  // Pieces shorter than what the hardware reads ahead are asked for a block ahead where they come from memory and are
  // read once: (1792 x 2)^T by 1792 x 3479 took 870 us in pieces of 1.4 KB, 480 so, and in pieces of 7 KB 509 and 485
  // (AVX2 on two Zen 3 cores, 2026-11-29).
  if (home * size >= costs::kShortestStream || rows > sums.rows) return;
  for (const Operand& operand : context.loops.operands) {
    const codegen::Prefetch next{operand.number, context.outputs(), static_cast<int>(block)};
    if (is_streamed(operand) && layout.bytes_of(operand) > far &&
        codegen::bytes_ahead(*context.program, context.loops, stage, next))
      stage.prefetches.push_back(next);
  }
}

}  // namespace tile_tune::search
