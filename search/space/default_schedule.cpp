// The schedule a program gets without any search: an analytical model of vectors, registers and reuse.
//
// Reductions that use their operands many times: contraction_schedule.h. Elements that are only moved: default_copy.h.
// The others here: one tile level, the register tile. Vectors run along the output loop in which the operands are
// contiguous, or in lanes of the reduction if only that one is (matrix-vector products). Rows of the register tile run
// along the loop that reuses the vector operand. An operand that would be loaded with a stride, or whose panel is read
// again by many rows, is packed once a panel.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/partial_sums.h"
#include "codegen/target/costs.h"
#include "frontend/ir/storage.h"
#include "search/space/choices.h"
#include "search/space/contraction_schedule.h"
#include "search/space/default_copy.h"
#include "search/space/default_parallel.h"
#include "search/space/default_scan.h"
#include "search/space/gpu_default.h"
#include "search/space/lane_tile.h"
#include "search/space/matrix_tile.h"
#include "search/space/moves.h"
#include "search/space/nest_model.h"
#include "search/space/term_size.h"
#include "search/space/window_taps.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Operand;
using codegen::Packing;

// Register tiles come in several widths, and the model cannot tell close ones apart (costs::kWorthATrial); three trials
// a statement are the most that is risked.
constexpr size_t kAlternatives = 3;

// Packs, once a panel of the vector loop, the operand that the rows read again and again along that loop.
void pack_panels(const NestModel& model, NestSchedule& stage, int row_loop) {
  const auto& context = model.context;
  if (row_loop < 0 || stage.cpu().vector_loop < 0 || stage.cpu().vector_loop >= context.outputs()) return;
  const auto at = std::find(stage.order[0].begin(), stage.order[0].end(), stage.cpu().vector_loop);
  const int depth = static_cast<int>(at - stage.order[0].begin()) + 1;
  if (depth < stage.cpu().parallel) return;
  for (const auto& operand : context.loops.operands) {
    const bool along_vector = operand.affine && model.stride(operand, stage.cpu().vector_loop) != 0;
    // A panel pays when several rows of tiles read it: copying costs about as much as one pass over it.
    const int64_t passes = trip_count(context.loops, stage, row_loop, 0);
    if (!along_vector || model.stride(operand, row_loop) != 0 || passes < costs::kPassesToPack) continue;
    stage.packings.push_back(panel_packing(context, stage, operand.number));
  }
}

// Loops, from the outermost on, that all use the operand or have one tile: a copy inside them is made no more often
// than one before them, and is smaller. 0 if the parallel ones are not among them.
int copy_depth(const NestModel& model, const NestSchedule& stage, const Operand& operand) {
  const auto& order = stage.order.front();
  const auto end = std::find_if(order.begin(), order.end(), [&](int p) {
    return model.stride(operand, p) == 0 && trip_count(model.context.loops, stage, p, 0) > 1;
  });
  const int depth = static_cast<int>(end - order.begin());
  return depth < stage.cpu().parallel ? 0 : depth;
}

// The dimensions that the index runs along first, then the others as they lie in memory.
std::vector<int> order_along(const StageContext& context, const Operand& operand, int index) {
  auto order = ir::memory_order(context.program->tensors[operand.tensor]);
  std::stable_partition(order.begin(), order.end(),
                        [&](int d) { return std::get<ir::AffineExpr>(operand.subscripts[d]).coefficient(index) != 0; });
  return order;
}

// What dot-product instructions take as vectors is copied in any case, once for all loops that do not use it: made by
// repair() it would be a copy a panel. 168 x 504 by 504 x 550 of bf16 took 0.33 ms so, 0.36 with a copy a panel (two
// Zen 4 cores).
// The other operand's neighbours along the sum go into each lane together: where they lie apart, a copy brings them
// side by side. (256 x 400, transposed, by 256 x 16 of i8 on one thread: 20.4 us gathered byte by byte, 17.4 so.)
void pack_for_dots(const NestModel& model, NestSchedule& stage) {
  const auto& context = model.context;
  const auto& statement = context.program->statements[context.statement];
  const auto dot = codegen::dot_product(statement, context.loops, stage);
  if (!dot || dot->in_lanes || iterations_in_lane(context) == 1) return;
  const auto pack = [&](int number, const std::vector<int>& order) {
    if (std::none_of(stage.packings.begin(), stage.packings.end(),
                     [&](const Packing& packing) { return packing.operand == number; }))
      stage.packings.push_back({number, copy_depth(model, stage, context.loops.operands[number]), order});
  };
  pack(dot->column, panel_packing(context, stage, dot->column).order);
  const Operand& row = context.loops.operands[1 - dot->column];
  if (model.stride(row, context.outputs() + dot->loop) <= 1 && !dot->widened) return;
  pack(row.number, order_along(context, row, context.loops.reduction_index[dot->loop]));
}

// Halves that are read again and again are widened once, in a copy as they lie in memory. (512 x 512 products: 1.39 ms
// with the rows' copies made tile by tile, 2.24 with both made as a whole; two Zen 4 cores.)
NestSchedule suited_to_types(const NestModel& model, NestSchedule stage) {
  const auto& context = model.context;
  set_dot_product(stage, usual_dot_product(context));
  for (const auto& operand : context.loops.operands) {
    const auto& tensor = context.program->tensors[operand.tensor];
    const bool packed = std::any_of(stage.packings.begin(), stage.packings.end(),
                                    [&](const Packing& packing) { return packing.operand == operand.number; });
    if (tensor.type != DType::F16 || packed || !operand.affine || model.output_reuse(operand) < costs::kPassesToPack)
      continue;
    stage.packings.push_back({operand.number, copy_depth(model, stage, operand), ir::memory_order(tensor)});
  }
  pack_for_dots(model, stage);
  return stage;
}

// About as many rows as suit sums at home, none left over if that may be. (1118 x 12019 by a vector, over its rows: 2.0
// ms with two at a time, 1.2 with thirteen; two Zen 4 cores, 2026-11-28.)
int64_t rows_at_once(int64_t extent) {
  if (extent < costs::kManyRows) return 1;
  const int64_t fewer = largest_divisor_up_to(extent, costs::kRowsAtOnce);
  for (int64_t more = costs::kRowsAtOnce; 2 * fewer < costs::kRowsAtOnce && more <= 2 * costs::kRowsAtOnce; ++more)
    if (extent % more == 0) return more;
  return 2 * fewer < costs::kRowsAtOnce ? costs::kRowsAtOnce : fewer;
}

void choose_reduction(const NestModel& model, NestSchedule& stage) {
  const auto& context = model.context;
  const int vector = stage.cpu().vector_loop;
  // Vectors that move over a window in steps share what is loaded and shuffled for its taps.
  const auto sharing = vector >= 0 && vector < context.outputs() && model.moves_in_steps(vector)
                           ? window_loops(context, vector)
                           : std::vector<int>{};
  const bool is_short = model.reduction_length() <= static_cast<double>(costs::kShortReduction);
  const auto most_taps = [&](int r) {
    if (is_short) return costs::kShortReduction;
    return std::find(sharing.begin(), sharing.end(), r) == sharing.end() ? costs::kMostTapsUnrolled
                                                                         : costs::kMostSharingTaps;
  };
  stage.reduction_order.resize(context.reductions());
  std::iota(stage.reduction_order.begin(), stage.reduction_order.end(), 0);
  // Short windows (2x2 pools, 3 taps) are unrolled whole as long as the body stays well below the compile limit.
  int64_t body = 1;
  for (const auto& tiles : stage.tiles) body *= tiles.back();
  if (stage.cpu().vector_loop >= 0 && stage.cpu().vector_loop < context.outputs()) body /= stage.cpu().lanes;
  stage.reduction_unroll.assign(context.reductions(), 1);
  for (int r = context.reductions() - 1; r >= 0; --r) {
    const int64_t extent = std::max<int64_t>(context.loops.reduction[r], 1);
    stage.reduction_block.insert(stage.reduction_block.begin(), extent);
    if (extent <= most_taps(r) && body * extent <= costs::kMostUnrolledByDefault &&
        stage.cpu().vector_loop != context.outputs() + r) {
      stage.reduction_unroll[r] = static_cast<int>(extent);
      body *= extent;
    }
  }
  if (stage.order.size() == 1) return;
  for (const int r : model.row_reductions(stage.cpu().vector_loop)) {
    stage.reduction_block[r] = rows_at_once(context.loops.reduction[r]);
    stage.reduction_unroll[r] = 1;
  }
}

// As many sums of each element as hide their latency, where the tile has too few elements for it. (1 x 2224 by 2224 x 5
// took 4.8 us with one.)
NestSchedule with_partial_sums(const StageContext& context, NestSchedule stage) {
  constexpr int64_t kLeastTurns = 4;  // of each, chosen: they pay for adding up the sums
  const int loop = stage.cpu().vector_loop;
  if (keeps_order(context) || stage.reduction_order.empty() || loop >= context.outputs() ||
      codegen::has_home(*context.program, context.program->statements[context.statement], context.loops, stage))
    return stage;
  int64_t elements = 1;
  for (const auto& tiles : stage.tiles) elements *= tiles.back();
  const int64_t sums = elements / stage.cpu().lanes * (is_complex(context.type) ? 2 : 1);
  const auto wanted = static_cast<int64_t>(costs::kInFlight) / std::max<int64_t>(sums, 1);
  if (wanted < 2 || context.loops.reduction[codegen::loop_of_turns(context.loops, stage)] < kLeastTurns * wanted)
    return stage;
  NestSchedule several = stage;
  several.partial_sums = static_cast<int>(std::bit_floor(static_cast<uint64_t>(wanted)));
  return codegen::partial_sums_fault(*context.program, context.loops, several).empty() ? several : stage;
}

// More than the second caches hold together.
bool comes_from_afar(const NestModel& model) {
  constexpr double kBeyond = 1.5;  // of little more than that two matrices by vectors took 1.07 and 1.15 times as long
  const codegen::Target& target = *model.context.target;
  return model.bytes_read() > kBeyond * static_cast<double>(target.l2_bytes * target.threads);
}

// Terms of minima and maxima that are taken together, two pairs if the body stays short: minima of the sums of 320 x 78
// and 78 x 496 numbers took 93 us one by one, 78 so, 55 other reductions and distances 0.89 of the time (AVX2 on two
// Zen 3 cores, 2026-11-29). One pair of short terms is worth a body of twice that length: nine distances took 0.86 of
// the time (two Zen 4 cores with AVX-512, 2026-11-30).
// Whole rows from afar pass by in the order of memory: maxima over 2496 rows of 128, 134 MB, took 8.0 ms four rows at a
// time, 3.9 one by one, over 1824 rows of 512 1.7 times as long (2026-12-01).
NestSchedule with_terms_together(const StageContext& context, NestSchedule stage) {
  constexpr int64_t kTogether = 4, kFewOperations = 4;  // the latter chosen: of them a maximum is a good part
  const auto& statement = context.program->statements[context.statement];
  const auto& operands = context.loops.operands;
  const auto& unroll = stage.reduction_unroll;
  if (!codegen::takes_pairs(statement) || stage.partial_sums > 0 || stage.cpu().vector_loop >= context.outputs() ||
      std::any_of(unroll.begin(), unroll.end(), [](int factor) { return factor > 1; }) ||
      !std::all_of(operands.begin(), operands.end(), [](const Operand& operand) { return operand.affine; }))
    return stage;
  const int v = stage.cpu().vector_loop;
  if (v >= 0 && stage.tiles[v].back() == context.loops.output[v] && comes_from_afar(NestModel{context})) return stage;
  const int64_t operations = std::max<int64_t>(operations_of_iteration(statement), 1);
  int64_t body = operations;
  for (const auto& tiles : stage.tiles) body *= tiles.back();
  if (stage.cpu().vector_loop >= 0) body /= stage.cpu().lanes;
  const int64_t fit = costs::kMostUnrolledByDefault / body;
  const int64_t most = fit == 1 && operations <= kFewOperations ? 2 : std::min(kTogether, fit);
  for (auto r = stage.reduction_order.rbegin(); r != stage.reduction_order.rend() && most > 1; ++r) {
    const int64_t length = codegen::most_unrolled(context.loops.reduction[*r], stage.reduction_block[*r]);
    const int64_t together = codegen::is_window(context.loops, *r) ? 1 : largest_divisor_up_to(length, most);
    stage.reduction_unroll[*r] = static_cast<int>(together);
    if (together > 1) break;
  }
  return stage;
}

NestSchedule product_in_lanes(const NestModel& model, const RegisterTile& tile) {
  const auto& context = model.context;
  NestSchedule stage;
  stage.cpu().vector_loop = tile.vector_loop;
  stage.cpu().lanes = tile.lanes;
  for (const int64_t size : tile.sizes) stage.tiles.push_back({size});
  stage.order = {loop_order(model, stage, -1)};
  choose_reduction(model, stage);
  // Innermost, as dot products have it.
  std::stable_partition(stage.reduction_order.begin(), stage.reduction_order.end(),
                        [&](int r) { return context.outputs() + r != tile.vector_loop; });
  stage.dot_product = iterations_in_lane(context) > 1;
  stage.cpu().parallel = parallel_loops(model, stage);
  const int index = context.loops.reduction_index[tile.vector_loop - context.outputs()];
  for (const auto& operand : context.loops.operands)
    if (is_copied_for_lanes(context, operand, tile.vector_loop, tile.sizes))
      stage.packings.push_back(
          {operand.number, copy_depth(model, stage, operand), order_along(context, operand, index)});
  return stage;
}

NestSchedule finished(const NestModel& model, NestSchedule stage) {
  const auto& context = model.context;
  return with_terms_together(context, with_partial_sums(context, suited_to_types(model, std::move(stage))));
}

template <typename Pays>
std::vector<NestSchedule> stages_of_matrix_tiles(const NestModel& model, const Pays& pays) {
  const auto& context = model.context;
  std::vector<NestSchedule> stages;
  for (const RegisterTile& tile : matrix_tiles_by_cost(context)) {
    if (stages.size() > kAlternatives || !pays(tile)) break;
    if (auto stage = with_matrix_tiles(context, finished(model, contraction_stage(context, tile))))
      stages.push_back(std::move(*stage));
  }
  return stages;
}

// Rows of a few lines to a few pages that come from afar are read one after the other, as memory lies: 65536 x 256 by a
// vector took 3.6 ms with four rows side by side, 1.7 so. 33 drawn products and reductions so changed were 0.90 to 1.54
// times as fast, 1.13 on average, 15 with AVX2 0.81 to 1.70, 1.08; rows of 128 bytes and of 16 KB gained nothing, of
// 192 bytes and of 8 KB 1.5 and 1.2 (two Zen 4 cores, 2026-12-01).
bool follow_each_other(const NestModel& model, int64_t extent) {
  constexpr int64_t kFewLines = 3, kFewPages = 2;
  const int64_t bytes = extent * static_cast<int64_t>(dtype_size(model.context.type));
  return bytes >= kFewLines * codegen::kLineBytes && bytes <= kFewPages * costs::kWayBytes &&
         model.reduction_length() <= static_cast<double>(extent) && comes_from_afar(model);
}

// Vectors of a row that are unrolled together: about as many as are wanted, of short rows none left over. Maxima over
// rows of 72 took 233 us two at a time, 86 one by one, over rows of 88 35 eight at a time, 30 eleven (AVX2 on two Zen 4
// cores, 2026-11-28).
int vectors_together(int64_t extent, int lanes, int64_t wanted) {
  constexpr int64_t kFewVectors = 32;  // chosen: of more, what is left over is little
  const int64_t vectors = std::max<int64_t>(extent / lanes, 1), usual = std::min(vectors, wanted);
  if (extent % lanes != 0 || vectors % usual == 0 || vectors > kFewVectors) return static_cast<int>(usual);
  for (int64_t together = std::min(vectors, 2 * wanted); 2 * together >= wanted; --together)
    if (vectors % together == 0) return static_cast<int>(together);
  return static_cast<int>(usual);
}

}  // namespace

NestSchedule default_stage(const StageContext& context) { return default_stages(context).front(); }

std::vector<NestSchedule> default_stages(const StageContext& context) {
  if (context.target->device == codegen::Device::Gpu) return default_stages_on_gpu(context);
  if (const auto scan = default_scan(context)) return {*scan};
  const NestModel model{context};
  if (const auto stage = transposing_stage(model)) return {*stage};
  NestSchedule stage;
  stage.cpu().vector_loop = model.best_vector_loop();
  const bool sums = model.reduction_length() > 1;
  const auto tiles = sums && !model.is_streamed() ? register_tiles_by_width(context) : std::vector<RegisterTile>{};
  if (!tiles.empty()) {
    double lowest = HUGE_VAL;
    for (int r = 0; r < context.reductions(); ++r)
      if (context.loops.reduction[r] >= costs::kFewestLanes)
        lowest = std::min(lowest, lane_reduction_cost(context, context.outputs() + r));
    const auto time = [&](const RegisterTile& tile, double trusted) {
      return (tile.cost - tile.moves) / trusted / iterations_in_lane(context) + tile.moves;
    };
    const auto in_lanes = best_lane_tile(context);
    const double usual = std::min({time(tiles[0], 1), lowest, in_lanes ? in_lanes->tile.cost : HUGE_VAL});
    std::vector<NestSchedule> stages =
        stages_of_matrix_tiles(model, [&](const RegisterTile& tile) { return time(tile, 1) < usual; });
    if (!stages.empty()) return stages;
    if (in_lanes) {
      const bool is_masked = tiles[0].lanes > context.loops.output[tiles[0].vector_loop];
      const double trusted = in_lanes->is_small ? 1 : is_masked ? costs::kOverestimatedMasked : costs::kOverestimated;
      const double others = time(tiles[0], trusted);
      if (in_lanes->tile.cost < std::min(others, lowest)) stages.push_back(product_in_lanes(model, in_lanes->tile));
    }
    if (!stages.empty() || tiles[0].cost <= lowest) {
      for (const RegisterTile& tile : tiles)
        if (stages.size() <= kAlternatives && tile.cost <= costs::kWorthATrial * tiles[0].cost)
          stages.push_back(finished(model, contraction_stage(context, tile)));
      return stages;
    }
  }
  stage.tiles.assign(context.outputs(), {1});
  // One by one, as many sums as hide their latency.
  if (stage.cpu().vector_loop < 0 && model.reduction_length() >= costs::kInFlight)
    if (const int more = model.loop_of_more_sums(-1); more >= 0)
      stage.tiles[more].back() = NestModel::tile_of_sums(1, 1, context.loops.output[more]).rows;
  int row_loop = -1;
  int64_t wanted_vectors = 1;
  if (stage.cpu().vector_loop >= 0) {
    const int64_t extent = model.extent(stage.cpu().vector_loop);
    stage.cpu().lanes = model.natural_lanes();
    while (stage.cpu().lanes > extent) stage.cpu().lanes /= 2;
    row_loop = model.best_row_loop(stage.cpu().vector_loop);
    const int64_t all_rows = row_loop >= 0 ? context.loops.output[row_loop] : 1;
    const int64_t row_extent = sums ? all_rows : std::min(all_rows, costs::kRowsStored);
    const bool walks = model.walks_rows(stage.cpu().vector_loop, row_loop);
    // A long row in lanes has sums enough.
    const bool lacks_sums = stage.cpu().vector_loop < context.outputs()
                                ? model.reduction_length() >= costs::kInFlight
                                : extent / stage.cpu().lanes < static_cast<int64_t>(costs::kInFlight);
    const int more = row_loop < 0 && lacks_sums ? model.loop_of_more_sums(stage.cpu().vector_loop) : -1;
    const int rows_along = more >= 0 ? more : row_loop;
    const int adjacent = walks ? model.lanes_of_adjacent_rows(stage.cpu().vector_loop) : 0;
    const int64_t whole =
        walks && adjacent == 0 ? model.tile_in_registers(stage.cpu().vector_loop, stage.cpu().lanes) : 0;
    if (adjacent > 0) {
      stage.cpu().lanes = adjacent;
      stage.tiles[stage.cpu().vector_loop] = {extent};
    } else if (whole > 0) {
      stage.tiles[stage.cpu().vector_loop] = {whole};
    } else if (walks) {
      for (auto& tiles : stage.tiles) tiles = {1, 1};
      const int64_t piece = model.row_piece(stage.cpu().vector_loop, stage.cpu().lanes);
      stage.tiles[stage.cpu().vector_loop] = {model.row_tile(extent, piece), piece};
    } else if (stage.cpu().vector_loop < context.outputs()) {
      const auto tile = more >= 0 ? NestModel::tile_of_sums(extent, stage.cpu().lanes, context.loops.output[more])
                                  : model.register_tile(extent, stage.cpu().lanes, row_extent);
      const int64_t wide = rows_along < 0 ? model.vectors_across_pages(stage.cpu().vector_loop, stage.cpu().lanes) : 0;
      stage.tiles[stage.cpu().vector_loop].back() = std::max(tile.vectors, wide) * stage.cpu().lanes;
      if (rows_along >= 0) stage.tiles[rows_along].back() = tile.rows;
    } else {
      const bool is_short = model.reduction_length() < costs::kShortRow * stage.cpu().lanes;
      const int64_t streams = is_short ? static_cast<int64_t>(costs::kInFlight) : costs::kRowStreams;
      const int64_t rows =
          rows_along < 0 || follow_each_other(model, extent) ? 1 : std::min(streams, context.loops.output[rows_along]);
      if (rows_along >= 0) stage.tiles[rows_along].back() = rows;
      // And lanes enough for all sums in flight.
      wanted_vectors = std::max<int64_t>(static_cast<int64_t>(costs::kInFlight) / rows, 1);
    }
  }
  use_whole_runs(model, stage);
  use_whole_lines(model, stage);
  if (!sums) row_loop = -1;  // results are written row by row
  stage.order.assign(stage.tiles.empty() ? 1 : stage.tiles.front().size(), loop_order(model, stage, row_loop));
  choose_reduction(model, stage);
  if (const int r = stage.cpu().vector_loop - context.outputs(); r >= 0) {
    stage.cpu().lanes = model.lanes_along_row(stage.cpu().vector_loop);
    stage.reduction_unroll[r] = vectors_together(context.loops.reduction[r], stage.cpu().lanes, wanted_vectors);
  }
  stage.cpu().parallel = parallel_loops(model, stage);
  pack_panels(model, stage, row_loop);
  return {finished(model, std::move(stage))};
}

}  // namespace tile_tune::search
