// One tile level, the register tile. Batches (tile_layout.h) are outermost; beside panels alone that are read as they
// lie all go in the order of memory. If all panels of a batch fit half of the second cache, or take less time to be
// read again than the rows, rows run outside and the panels are packed once a batch; else panels run outside, packed
// one by one.
#include "search/space/contraction_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <tuple>

#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/default_parallel.h"
#include "search/space/distant_lines.h"
#include "search/space/innermost_loop.h"
#include "search/space/nest_model.h"
#include "search/space/streamed_sums.h"
#include "search/space/sum_blocks.h"
#include "search/space/tile_layout.h"
#include "search/space/window_taps.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Operand;

constexpr int64_t kFewDots = 2;  // chosen: of fewer most of an instruction's neighbours may be filled up

std::vector<int> unrolled_for_tile(const TileLayout& layout) {
  return unrolled_windows(layout.context, window_loops(layout.context, layout.tile.vector_loop), layout.tile);
}

// Vectors that rows of the tile load for different taps are the same.
bool is_shared_by_rows(const TileLayout& layout, int r) {
  const auto& context = layout.context;
  const auto unrolled = unrolled_for_tile(layout);
  if (std::find(unrolled.begin(), unrolled.end(), r) == unrolled.end()) return false;
  const auto& operands = context.loops.operands;
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.affine && layout.in_panel(operand) && share_of_rows(context, operand, r, layout.tile) < 1;
  });
}

// Vectors of it come from memory as they lie, for too few rows to be copied for them.
bool is_streamed_panel(const TileLayout& layout, const Operand& operand) {
  return operand.affine && layout.stride(operand, layout.tile.vector_loop) == 1 &&
         layout.trips_of(TileLayout::Kind::Row) < costs::kPassesToPack &&
         !codegen::is_packed_beforehand(*layout.context.program, operand) &&
         layout.bytes_of(operand) > static_cast<double>(layout.context.target->l3_bytes);
}

// Reduction loops in the order that walks the operand read by single elements best, widest steps outside, or vectors
// from memory. (8 x 64 x 16 x 64 by 64 x 2 x 16 x 64 x 96, of 50 MB, took 19.8 ms in the order of the former, 14.1 so;
// AVX2 on two Zen 3 cores, 2026-11-29.)
std::vector<int> reduction_order(const TileLayout& layout) {
  const auto& context = layout.context;
  const auto& operands = context.loops.operands;
  std::vector<int> order(context.reductions());
  std::iota(order.begin(), order.end(), 0);
  const bool has_streams = std::any_of(operands.begin(), operands.end(),
                                       [&](const Operand& operand) { return is_streamed_panel(layout, operand); });
  auto distance = [&](int r) {
    int64_t widest = 0;
    for (const auto& operand : operands)
      if (has_streams ? is_streamed_panel(layout, operand) : operand.affine && !layout.in_panel(operand))
        widest = std::max(widest, layout.stride(operand, context.outputs() + r));
    return widest;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return distance(a) > distance(b); });
  std::stable_partition(order.begin(), order.end(), [&](int r) { return r != layout.tile.dot_loop; });
  return order;
}

// The same with a loop last that dot products can be taken of, where that is not so of the innermost: the longest.
std::vector<int> suited_to_dots(const TileLayout& layout, NestSchedule stage, std::vector<int> order) {
  const auto& context = layout.context;
  const auto with_last = [&](int r) {
    auto result = order;
    std::stable_partition(result.begin(), result.end(), [&](int one) { return one != r; });
    return result;
  };
  const auto iterations = [&](int r) -> int64_t {
    stage.reduction_order = with_last(r);
    set_dot_product(stage, usual_dot_product(context));
    const auto dot = codegen::dot_product(context.program->statements[context.statement], context.loops, stage);
    const int64_t extent = context.loops.reduction[r];
    return dot && extent >= kFewDots * dot->width ? extent : 0;
  };
  if (usual_dot_product(context) == DotForm::None || order.empty() || layout.tile.dot_loop >= 0) return order;
  const auto busy = std::find_if(order.rbegin(), order.rend(), [&](int r) { return context.loops.reduction[r] > 1; });
  if (busy == order.rend() || iterations(*busy) > 0) return order;
  const int longest =
      *std::max_element(order.begin(), order.end(), [&](int a, int b) { return iterations(a) < iterations(b); });
  return iterations(longest) > 0 ? with_last(longest) : order;
}

// The same with taps that rows of the tile share last, so that what is loaded for one row is still there for the next.
std::vector<int> with_shared_taps_last(const TileLayout& layout, std::vector<int> order) {
  if (usual_dot_product(layout.context) != DotForm::None) return order;
  std::stable_partition(order.begin(), order.end(), [&](int r) { return !is_shared_by_rows(layout, r); });
  return order;
}

std::vector<int> unrolled_taps(const TileLayout& layout) {
  const auto& context = layout.context;
  std::vector<int> unroll(context.reductions(), 1);
  for (const int r : unrolled_for_tile(layout))
    unroll[r] = static_cast<int>(std::max<int64_t>(context.loops.reduction[r], 1));
  return unroll;
}

// What is transposed into vectors comes in blocks of neighbours in memory (codegen/lower/copy.h). Where these are few
// along the innermost dimension they go on along the next ones if these follow each other in the copy as well. It is
// worth it where single elements would be of another line each: gcbfa,fdge->dcbea, where a has 2, took 2.4 to 4.9 times
// as long with g next in the copy of the first; with a dimension next whose steps are shorter than a line 27 others
// took 0.66 to 2.0 times as long, 1.08 on average (two Emerald Rapids cores, 2026-11-30).
void with_source_in_runs(const ir::Tensor& tensor, std::vector<int>& storage) {
  const auto shape = ir::shape(tensor), distances = ir::strides(tensor);
  const auto following = std::find_if(storage.begin() + 1, storage.end(), [&](int d) { return shape[d] > 1; });
  if (following == storage.end() ||
      distances[*following] * static_cast<int64_t>(dtype_size(tensor.type)) < codegen::kLineBytes)
    return;
  std::vector<int> run;
  int64_t neighbours = 1;
  for (const int d : ir::memory_order(tensor)) {
    if (neighbours >= costs::kLeastTransposed || d == storage.front()) break;
    if (shape[d] > 1) run.push_back(d);
    neighbours *= shape[d];
  }
  if (run.size() < 2 || neighbours < costs::kLeastTransposed) return;
  auto next = storage.begin() + 1;
  for (const int d : run) {
    const auto at = std::find(next, storage.end(), d);
    std::rotate(next, at, at + 1);
    ++next;
  }
}

// Stored with what output loop p walks innermost, if there is one, then in the order the reduction walks.
std::vector<int> storage_order(const TileLayout& layout, const Operand& operand, int p,
                               const std::vector<int>& reductions) {
  const auto& loops = layout.context.loops;
  const auto distances = ir::strides(layout.context.program->tensors[operand.tensor]);
  std::vector<int> storage(operand.subscripts.size());
  std::iota(storage.begin(), storage.end(), 0);
  auto uses = [&](int d, int index) { return std::get<ir::AffineExpr>(operand.subscripts[d]).coefficient(index) != 0; };
  auto rank = [&](int d) {
    if (p >= 0 && uses(d, loops.output_index[p])) return 0;
    for (size_t r = 0; r < reductions.size(); ++r)
      if (uses(d, loops.reduction_index[reductions[reductions.size() - 1 - r]])) return 1 + static_cast<int>(r);
    return 1 + static_cast<int>(reductions.size());
  };
  std::stable_sort(storage.begin(), storage.end(),
                   [&](int a, int b) { return rank(a) != rank(b) ? rank(a) < rank(b) : distances[a] < distances[b]; });
  return storage;
}

// The same of a panel's copy. Weights that are used again and again are copied in no time, and rather lie as the sum
// walks them.
std::vector<int> panel_order(const TileLayout& layout, const Operand& operand, const std::vector<int>& reductions) {
  constexpr double kShowing = 0.1;  // of the work, chosen
  const int v = layout.tile.vector_loop;
  auto storage = storage_order(layout, operand, v, reductions);
  const double by_elements = costs::kScalarMove * whole_footprint(layout.context, operand);
  if (layout.stride(operand, v) > 1 && by_elements > kShowing * layout.tile.cost)
    with_source_in_runs(layout.context.program->tensors[operand.tensor], storage);
  return storage;
}

// Bytes of the operand that the copies of all threads hold together, each inside of the first `depth` loops.
double bytes_of_copies(const TileLayout& layout, const Operand& operand, const NestSchedule& stage, int depth) {
  const auto& context = layout.context;
  std::vector<int64_t> extents = context.loops.output;
  extents.insert(extents.end(), context.loops.reduction.begin(), context.loops.reduction.end());
  for (int i = 0; i < depth; ++i) extents[stage.order.front()[i]] = stage.tiles[stage.order.front()[i]].front();
  return (stage.cpu().parallel > 0 ? context.target->threads : 1) * context.bytes(operand, extents);
}

// Of the lines that a tile reads with all steps of the sum none is left in the first cache for the next tile.
bool leaves_first_cache(const StageContext& context, const Operand& operand, const std::vector<int64_t>& tile) {
  int64_t lines = 1;
  for (int loop = 0; loop < context.loops.loop_count(); ++loop) {
    const bool is_apart = context.bytes_apart(operand, loop) >= codegen::kLineBytes;
    if (is_apart) lines *= loop < context.outputs() ? tile[loop] : NestModel{context}.extent(loop);
  }
  return lines * codegen::kLineBytes > context.target->l1_bytes;
}

// The depth of a copy, in the order of the reduction, of an operand each single element of which is on a line of its
// own that neither the next step nor another row reads more of before a near cache loses it, though many panels read it
// again: 0, or, where the last cache has no room for all of it, inside of the first loops that lead to other lines.
// -1: it is not copied. Where the next rows come from the second cache many panels pay for the copy as well: (784 x
// 488)^T by 784 x 3700 took 23.4 ms without and 21.5 with it, seven others 0.94 to 1.45 times as long without, but one
// of as many rows as a line has elements 0.64 (AVX2 on two Zen 3 cores, 2026-11-30).
int depth_of_copied_rows(const TileLayout& layout, const Operand& operand, const NestSchedule& stage) {
  constexpr int64_t kManyPasses = 16;  // chosen, below the 19 and more of these
  const auto& context = layout.context;
  const auto& reductions = stage.reduction_order;
  const int parallel = stage.cpu().parallel;
  if (layout.in_panel(operand) || reductions.empty() ||
      context.bytes_apart(operand, context.outputs() + reductions.back()) < codegen::kLineBytes)
    return -1;
  std::vector<int64_t> tile;
  for (const auto& tiles : stage.tiles) tile.push_back(tiles.front());
  int64_t passes = 1;
  bool reads_neighbours = false, is_line_of_rows = false;
  for (int p = 0; p < context.outputs(); ++p) {
    const int64_t apart = context.bytes_apart(operand, p);
    if (apart == 0) passes *= layout.trips(p);
    const bool are_neighbours = apart != 0 && apart < codegen::kLineBytes && layout.tile.sizes[p] > 1;
    reads_neighbours |= are_neighbours;
    is_line_of_rows |= are_neighbours && context.loops.output[p] * apart <= codegen::kLineBytes;
  }
  const bool loses = loses_lines(context, operand, tile);
  const auto l3 = static_cast<double>(context.target->l3_bytes);
  const bool is_worth_it = loses || !reads_neighbours ||
                           (passes >= kManyPasses && !is_line_of_rows && leaves_first_cache(context, operand, tile));
  if (passes < costs::kPassesToPack || !is_worth_it) return -1;
  if (layout.bytes_of(operand) <= l3) return 0;
  const auto& order = stage.order.front();
  const auto first = std::find_if(order.begin(), order.end(), [&](int p) {
    return trip_count(context.loops, stage, p, 0) > 1 && context.bytes_apart(operand, p) < codegen::kLineBytes;
  });
  const auto depth = static_cast<int>(first - order.begin());
  const bool suits = loses && depth > 0 && depth >= parallel && bytes_of_copies(layout, operand, stage, depth) <= l3;
  return suits && layout.copy_depth(operand, order, depth, parallel) == depth ? depth : -1;
}

// The depth of a panel's copy where its rows come from beyond the second caches in pieces of few lines, for few tiles
// of rows: all panels are copied at once, so that rows are read as a whole. adb,cd->cba of 156 x 156 x 156, 24 took 4.9
// ms with pieces of 16 elements, 3.8 with 32, 3.3 with 80, 2.8 so. With 4 to 7 passes over a copy five of six were 1.1
// to 1.9 times as fast, with 22 to 256 none was (AVX2 on two Zen 3 cores, 2026-11-29).
int depth_of_whole_rows(const TileLayout& layout, const Operand& operand, const NestSchedule& stage, int64_t passes,
                        int depth) {
  constexpr int64_t kFewLines = 4, kFewPasses = 8;  // chosen, the latter between those
  const auto& context = layout.context;
  const int v = layout.tile.vector_loop;
  const auto& order = stage.order.front();
  const auto outside = static_cast<int>(std::find(order.begin(), order.end(), v) - order.begin());
  const int64_t piece = stage.tiles[v].front() * context.bytes_apart(operand, v);
  if (outside >= depth || outside < stage.cpu().parallel || layout.stride(operand, v) != 1 ||
      trip_count(context.loops, stage, v, 0) == 1 || piece > kFewLines * codegen::kLineBytes || passes > kFewPasses)
    return depth;
  const codegen::Target& target = *context.target;
  const bool is_far = layout.bytes_of(operand) > static_cast<double>(target.l2_bytes) * target.threads;
  const bool fits = bytes_of_copies(layout, operand, stage, outside) <= static_cast<double>(target.l3_bytes) / 2;
  return is_far && fits ? outside : depth;
}

// Of a tile's multiples that make a vector of neighbours or so, the one that loses least in the last tile.
int64_t neighbours(int64_t tile, int64_t extent) {
  constexpr int64_t kWanted = 16, kFewest = 8, kMost = 32;  // floats in a vector and in a line of the cache: 16
  const int64_t fewest = std::min(kFewest, extent / tile * tile), most = std::max(kMost, tile);
  std::tuple<int64_t, int64_t, int64_t> best{std::numeric_limits<int64_t>::max(), 0, tile};
  for (int64_t size = tile; size <= std::min(most, extent); size += tile)
    if (size >= fewest) best = std::min(best, {round_up(extent, size), std::abs(size - kWanted), size});
  return std::get<2>(best);
}

// Outermost tiles along all output loops but one.
int64_t tiles_beside(const StageContext& context, const NestSchedule& stage, int loop) {
  int64_t tiles = 1;
  for (int p = 0; p < context.outputs(); ++p) tiles *= p == loop ? 1 : trip_count(context.loops, stage, p, 0);
  return tiles;
}

// Rows of a few lines are not cut within one by the outermost loop: threads would write to it in turns. 46 products of
// 4 x 37 by 37 x 256, the batch innermost in the results, took 71 to 165 us with halves of 46, 41 so (two Zen 4 cores,
// 2026-11-28).
bool would_share_lines(const StageContext& context, const NestSchedule& stage, int across, int64_t wanted) {
  if (wanted <= 1) return false;
  constexpr int64_t kAFewLines = 4;  // chosen, above the three of this case
  constexpr double kSeldom = 64;     // terms: sums that write seldom; chosen between 37, and 128, which lost
  const int64_t extent = context.loops.output[across];
  const int64_t bytes = extent * static_cast<int64_t>(dtype_size(context.type));
  return stage.order.front().front() == across && NestModel{context}.reduction_length() < kSeldom &&
         bytes % codegen::kLineBytes != 0 && bytes <= kAFewLines * codegen::kLineBytes &&
         tiles_beside(context, stage, across) >= wanted && extent % stage.tiles[across].front() == 0;
}

// Results that vectors would store one by one are collected for enough register tiles to be transposed. Loops inside
// that of the neighbours stay inside it, so that its tiles are reused from the first cache as before, as far as pieces
// are left for all threads: (64 x 696)^T by 64 x 8 of bf16 took 17 us as one piece, its sum in parallel, 5 so.
void collect_neighbours(const StageContext& context, NestSchedule& stage) {
  const int across = context.contiguous_loop();
  if (across < 0 || across == stage.cpu().vector_loop) return;
  for (auto& tiles : stage.tiles) tiles.push_back(tiles.front());
  stage.order.push_back(stage.order.front());
  auto home = static_cast<double>(dtype_size(context.type));
  for (const auto& tiles : stage.tiles) home *= static_cast<double>(tiles.front());
  const auto grow = [&](int p, int64_t size) {
    home *= static_cast<double>(size) / static_cast<double>(stage.tiles[p].front());
    stage.tiles[p].front() = size;
  };
  const int64_t wanted = pieces_wanted(context, stage.cpu().lanes);
  grow(across, would_share_lines(context, stage, across, wanted)
                   ? context.loops.output[across]
                   : neighbours(stage.tiles[across].front(), context.loops.output[across]));
  // An eighth of the second cache, half of which is for panels.
  const double most = static_cast<double>(context.target->l2_bytes) / 8;
  for (auto p = stage.order.front().rbegin(); p != stage.order.front().rend() && *p != across; ++p) {
    const int64_t extent = context.loops.output[*p], tile = stage.tiles[*p].front();
    if (extent % tile != 0 || home * static_cast<double>(extent) / static_cast<double>(tile) > most) break;
    const int64_t others = tiles_beside(context, stage, *p);
    const int64_t pieces = std::min((wanted + others - 1) / others, extent / tile);
    grow(*p, largest_divisor_up_to(extent / tile, extent / tile / pieces) * tile);
    if (stage.tiles[*p].front() < extent) break;
  }
}

// Elements that are copied of vector operands: those that lie otherwise, halves, and what dot-product instructions
// take. Of the others halves, and what does not lie along the sum for those instructions.
double copied_elements(const TileLayout& layout, bool of_panels) {
  const auto& context = layout.context;
  const DotForm dots = usual_dot_product(context);
  const bool has_dots = dots != DotForm::None, in_pairs = dots == DotForm::Pairs;
  const int innermost = context.outputs() + reduction_order(layout).back();
  double elements = 0;
  for (const auto& operand : context.loops.operands) {
    if (!operand.affine || layout.in_panel(operand) != of_panels ||
        codegen::is_packed_beforehand(*context.program, operand))
      continue;
    const bool is_half = context.program->tensors[operand.tensor].type == DType::F16;
    const bool lies_otherwise = of_panels ? layout.stride(operand, layout.tile.vector_loop) != 1
                                          : has_dots && (in_pairs || layout.stride(operand, innermost) > 1);
    const bool can_be = !of_panels || packing_dimension(context, operand, layout.tile.vector_loop) >= 0;
    if (can_be && (is_half || lies_otherwise || (of_panels && has_dots))) elements += whole_footprint(context, operand);
  }
  return elements;
}

// How much longer a panel is read out of a copy of several, which holds it in pieces of a few lines, than from one of
// its own: a panel as large as the second cache half as long again. 256 x 3072 by (768 x 3072)^T took 1.3 times as
// long, 256 x 1024 by (768 x 1024)^T 1.1; 29 products and convolutions that this shares out were 0.96 to 2.7 times as
// fast, 1.11 on average, 26 with AVX2 0.94 to 3.3, 1.18 (two Zen 4 cores, 2026-12-01).
double read_in_pieces(const TileLayout& layout) {
  const int64_t panels = layout.trips_of(TileLayout::Kind::Panel);
  if (panels == 1) return 1;
  const double bytes = layout.bytes_of_batch(true) / static_cast<double>(panels);
  return 1 + std::min(1.0, bytes / static_cast<double>(layout.context.target->l2_bytes)) / 2;
}

// Panels of a matrix unit's tiles cut rows of results of a few lines, which threads would write to in turns; next to
// its products these take long. 970 x 128 by (37 x 128)^T of i8 took 32 us with two panels for two threads, 14 with
// tiles of rows (two Emerald Rapids cores, 2026-12-01).
bool cuts_short_rows(const TileLayout& layout) {
  constexpr int64_t kAFewLines = 8;  // chosen
  const auto& context = layout.context;
  const int v = layout.tile.vector_loop;
  const auto& target = context.program->tensors[context.program->statements[context.statement].target];
  const int64_t bytes = context.loops.output[v] * static_cast<int64_t>(dtype_size(target.type));
  return layout.tile.is_matrix_tiles && context.contiguous_loop() == v && bytes % codegen::kLineBytes != 0 &&
         bytes <= kAFewLines * codegen::kLineBytes &&
         layout.trips_of(TileLayout::Kind::Row) >= kPiecesPerThread * context.target->threads;
}

// Panels are shared out, each copied by the thread that uses it, where the copies, made before all by one thread, would
// take longer than what is lost to threads without a panel and to copies of the rows, which are then made before. 8 x
// 300 by 300 x 512 of bf16 took 26 us with all of them before, 11 so (two Zen 4 cores, 2026-11-27).
bool shares_panels(const TileLayout& layout) {
  const auto& context = layout.context;
  if (!is_worth_threads(context, layout.tile.lanes) || cuts_short_rows(layout)) return false;
  const int64_t batches = layout.trips_of(TileLayout::Kind::Batch);
  const int64_t panels = batches * layout.trips_of(TileLayout::Kind::Panel);
  // With batches for all, each thread copies its own in any case.
  if (panels < context.target->threads || batches >= kPiecesPerThread * context.target->threads ||
      layout.repeats_in_panels())
    return false;
  const auto threads = static_cast<double>(context.target->threads);
  const double of_element = costs::copy_of_element(context.type);
  const double panels_copied = copied_elements(layout, true) * of_element,
               rows_copied = copied_elements(layout, false) * of_element;
  const double work = (layout.tile.cost - layout.tile.moves) / iterations_in_lane(context);
  const double rounds = std::ceil(static_cast<double>(panels) / threads) / static_cast<double>(panels);
  // What is not counted: all rows come to every thread, from beyond the second cache where they are many, and results
  // are stored in pieces of rows, which shows where sums are short. 128 x 32 by (256 x 32)^T took 19.7 us where both
  // were held against it, 13.2 so, a contraction with sums of 5 terms 0.47 ms and 1.18 (AVX2 on two Zen 4 cores,
  // 2026-11-27).
  constexpr double kClearly = 1.05, kSlightly = 1.02;  // chosen
  const bool loses = layout.bytes_of_batch(false) > static_cast<double>(context.target->l2_bytes) / 2 ||
                     NestModel{context}.reduction_length() < kLongSum;
  return (loses ? kClearly : kSlightly) * (rows_copied + (panels_copied + work) * rounds) <
         panels_copied + (rows_copied + (panels_copied > 0 ? read_in_pieces(layout) : 1) * work) / threads;
}

// All panels of a batch stay in half of the second cache, or are read again for every tile of rows in less time than
// all rows, from memory, for every panel: 8 x 128 channels of 193 x 17 in steps of 2, in panels of 180 KB, took 7.1 ms
// with the rows, 14 MB, read again by each of 11 panels, 5.0 so (AVX2 on two Zen 4 cores, 2026-11-27).
bool runs_rows_outside(const TileLayout& layout) {
  const auto& target = *layout.context.target;
  const double panels = layout.bytes_of_batch(true), rows = layout.bytes_of_batch(false);
  if (panels <= static_cast<double>(target.l2_bytes) / 2) return true;
  const int64_t row_tiles = layout.trips_of(TileLayout::Kind::Row);
  if (rows <= static_cast<double>(target.l3_bytes) || row_tiles == 1) return false;
  const auto time = [&](double bytes) { return bytes / costs::bytes_a_cycle(target, bytes); };
  return time(rows) + static_cast<double>(row_tiles) * time(panels) <
         time(panels) + static_cast<double>(layout.trips_of(TileLayout::Kind::Panel)) * time(rows);
}

// Steps of the reduction read the vectors of a panel from pages of their own, of more than the first TLB knows, and so
// does every tile of rows again; a tile's step is too short to hide it. 40 x 128 sums of 72 terms for each of 96, which
// lie between the terms, took 750 us in tiles of 2 x 32 with AVX2, 415 with panels packed, but 308 and 354 in tiles of
// 5 x 64 (two Zen 4 cores, 2026-11-28).
bool turns_pages(const TileLayout& layout) {
  constexpr double kHidingStep = 20;  // vector operations, two a cycle; chosen between the 8 and the 40 of these tiles
  const auto& context = layout.context;
  const codegen::Target& target = *context.target;
  double step = static_cast<double>(dtype_size(context.type)) / target.vector_bytes;
  for (const int64_t size : layout.tile.sizes) step *= static_cast<double>(size);
  if (costs::halves_wide_vectors(target)) step *= 2;
  const int64_t pieces = layout.trips_of(TileLayout::Kind::Batch) * layout.trips_of(TileLayout::Kind::Panel);
  if (step >= kHidingStep || layout.trips_of(TileLayout::Kind::Row) < costs::kPassesToPack ||
      pieces < kPiecesPerThread * target.threads)
    return false;
  const auto& operands = context.loops.operands;
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    if (!operand.affine || layout.stride(operand, layout.tile.vector_loop) != 1 ||
        codegen::is_packed_beforehand(*context.program, operand) ||
        packing_dimension(context, operand, layout.tile.vector_loop) < 0)
      return false;
    int64_t pages = 1;
    for (int r = 0; r < context.reductions(); ++r) {
      const bool is_on_another = context.bytes_apart(operand, context.outputs() + r) >= costs::kWayBytes;
      if (is_on_another) pages *= std::max<int64_t>(context.loops.reduction[r], 1);
    }
    return pages > costs::kPagesAtOnce;
  });
}

// The output loop for whose register tile a constant operand is stored: the vector loop, else that of the most rows.
int loop_to_store_for(const TileLayout& layout, const Operand& operand) {
  if (layout.in_panel(operand)) return layout.tile.vector_loop;
  int best = -1;
  for (int p = 0; p < layout.outputs(); ++p)
    if (layout.tile.sizes[p] > 1 && layout.stride(operand, p) != 0 &&
        (best < 0 || layout.tile.sizes[p] > layout.tile.sizes[best]))
      best = p;
  return best;
}

}  // namespace

NestSchedule contraction_stage(const StageContext& context, const RegisterTile& tile) {
  const TileLayout layout{context, tile};
  auto sums = sums_in_first_cache(layout);
  if (!sums) sums = sums_by_blocks(layout);
  if (sums) {
    unroll_innermost(layout, *sums);
    return *sums;
  }
  NestSchedule stage;
  stage.cpu().vector_loop = tile.vector_loop;
  stage.cpu().lanes = tile.lanes;
  for (const int64_t size : tile.sizes) stage.tiles.push_back({size});
  const bool shares = !layout.copies_batches() && shares_panels(layout);
  const bool rows_outside = !shares && !layout.walks_memory() &&
                            (layout.copies_batches() || (runs_rows_outside(layout) && !turns_pages(layout)));
  const bool copies_lines = !rows_outside && layout.copies_whole_lines();
  const auto order = layout.loop_order(rows_outside, copies_lines);
  stage.order = {order};
  collect_neighbours(context, stage);
  stage.reduction_block = context.loops.reduction;
  for (auto& block : stage.reduction_block) block = std::max<int64_t>(block, 1);
  stage.reduction_order = suited_to_dots(layout, stage, reduction_order(layout));
  stage.reduction_unroll = unrolled_taps(layout);

  auto is_before_pack = [&](int p) {
    if (copies_lines && layout.lies_along(p)) return false;
    return layout.kind(p) == TileLayout::Kind::Batch || (!rows_outside && layout.kind(p) == TileLayout::Kind::Panel);
  };
  const auto packed_at = static_cast<size_t>(std::count_if(order.begin(), order.end(), is_before_pack));
  if (is_worth_threads(context, tile.lanes)) {
    int64_t pieces = 1;
    // Each thread copies what it uses.
    const bool copies_own = shares || (layout.copies_batches() && layout.shares_batches());
    const int most = copies_own ? static_cast<int>(packed_at) : context.outputs();
    while (pieces < kPiecesPerThread * context.target->threads && stage.cpu().parallel < most)
      pieces *= trip_count(context.loops, stage, order[stage.cpu().parallel++], 0);  // of collected results' tiles
  }
  // Where the loops around the packed copy are too few to be shared out, it is made once for all.
  const int depth = static_cast<int>(packed_at) >= stage.cpu().parallel ? static_cast<int>(packed_at) : 0;
  int64_t passes = 1;
  for (size_t i = packed_at; i < order.size(); ++i)
    if (order[i] != tile.vector_loop && !(copies_lines && layout.lies_along(order[i])))
      passes *= layout.trips(order[i]);
  for (const auto& operand : context.loops.operands) {
    if (codegen::is_packed_beforehand(*context.program, operand)) {
      const int loop = loop_to_store_for(layout, operand);
      if (loop >= 0 && packing_dimension(context, operand, loop) >= 0)
        stage.packings.push_back({operand.number, 0, storage_order(layout, operand, loop, stage.reduction_order)});
      continue;
    }
    if (const int at = depth_of_copied_rows(layout, operand, stage); at >= 0)
      stage.packings.push_back({operand.number, at, storage_order(layout, operand, -1, stage.reduction_order)});
    if (!operand.affine || !layout.in_panel(operand)) continue;
    const bool strided = layout.stride(operand, tile.vector_loop) != 1;
    if (packing_dimension(context, operand, tile.vector_loop) < 0) continue;
    if (!strided && (depth == 0 || rows_outside || passes < costs::kPassesToPack)) continue;
    // A small operand that loops around the copy do not use is copied once for all of them.
    const bool again = std::any_of(order.begin(), order.begin() + depth,
                                   [&](int p) { return layout.trips(p) > 1 && layout.stride(operand, p) == 0; });
    const bool is_small = layout.bytes_of(operand) <= static_cast<double>(context.target->l2_bytes) / 2;
    const int at = again && is_small ? 0 : layout.copy_depth(operand, order, depth, stage.cpu().parallel);
    const int whole = depth_of_whole_rows(layout, operand, stage, passes, at);
    stage.packings.push_back({operand.number, whole, panel_order(layout, operand, stage.reduction_order)});
  }
  stage.reduction_order = with_shared_taps_last(layout, stage.reduction_order);
  read_in_long_pieces(layout, stage);
  sum_in_blocks(layout, stage);
  unroll_innermost(layout, stage);
  return stage;
}

}  // namespace tile_tune::search
