// One tile level, the register tile. Loops that every operand uses (batches, groups) are outermost; beside panels alone
// that are read as they lie all go in the order of memory. Of the others the operand loaded by vectors is the panel,
// the rest are rows. If all panels of a batch fit half of the second cache, or take less time to be read again than the
// rows, rows run outside and the panels are packed once a batch; else panels run outside, packed one by one.
#include "search/space/contraction_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "codegen/schedule/packed_form.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/default_parallel.h"
#include "search/space/nest_model.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Operand;

// Terms of a sum from which on it does not show how its results are stored: between 10 that lost and 24 that won where
// panels are shared out.
constexpr double kLongSum = 16;

struct Layout {
  const StageContext& context;
  const RegisterTile& tile;

  int outputs() const { return context.outputs(); }
  int64_t stride(const Operand& operand, int loop) const { return context.distance(operand, loop); }
  int64_t trips(int p) const {
    return (std::max<int64_t>(context.loops.output[p], 1) + tile.tile[p] - 1) / tile.tile[p];
  }
  bool in_panel(const Operand& operand) const { return !operand.affine || stride(operand, tile.vector_loop) != 0; }

  // Vectors run along batches, over operands of which one lies otherwise: it is copied once for each vector of batches
  // by the thread that reads it, or it would be again for every panel of the others, or as a whole by one thread for
  // all. (125 products of 18 x 19 by 19 x 8, the batch innermost in the one and outermost in the other, took 18 us with
  // the whole copied, 7 so; two Zen 4 cores, 2026-11-28.) Not where that is the smaller part by far: weights of a
  // depthwise convolution, whose input is then walked through once for each vector of channels.
  bool copies_batches() const {
    constexpr double kSmallPart = 0.25;  // chosen
    double all = 0, copied = 0;
    bool is_large = false;
    for (const auto& operand : context.loops.operands) {
      if (!in_panel(operand)) return false;
      all += bytes(operand);
      if (!operand.affine || stride(operand, tile.vector_loop) <= 1) continue;
      copied += bytes(operand);
      is_large |= bytes(operand) > static_cast<double>(context.target->l2_bytes) / 2;
    }
    return is_large || (copied > kSmallPart * all && shares_batches());
  }
  // Threads that take turns with the vectors of batches are done at about the same time: chosen, above the 4 of 3 that
  // two threads take for three (6.8 us, 9.0 with the whole copied and batches cut further; 2026-11-28).
  // Nor do they write to the same lines all the time: 312 x 2 by 2 x 32 of each of 13, stored beside each other, took
  // 15 us by rows and 40 to 80 with a vector of the 13 for either thread.
  bool shares_batches() const {
    constexpr double kMostIdle = 1.5;
    constexpr int64_t kLeastLines = 2;  // of a thread's, chosen
    const int64_t bytes = context.loops.output[tile.vector_loop] * static_cast<int64_t>(dtype_size(context.type));
    if (context.contiguous_loop() == tile.vector_loop && NestModel{context}.reduction_length() < kLongSum &&
        bytes < kLeastLines * context.target->threads * codegen::kLineBytes)
      return false;
    const int64_t batches = trips(tile.vector_loop), threads = context.target->threads;
    const int64_t rounds = (batches + threads - 1) / threads;
    return static_cast<double>(rounds * threads) <= kMostIdle * static_cast<double>(batches);
  }

  enum class Kind { Batch, Panel, Row };
  Kind kind(int p) const {
    bool panel = false, row = false;
    for (const auto& operand : context.loops.operands) {
      const bool used = stride(operand, p) != 0;
      panel |= used && in_panel(operand);
      row |= used && !in_panel(operand);
    }
    if (p == tile.vector_loop) return copies_batches() ? Kind::Batch : Kind::Panel;
    return panel && row ? Kind::Batch : panel ? Kind::Panel : Kind::Row;
  }

  // There are panels alone, read as they lie, beside what a near cache keeps: batches need not come first, and all can
  // be read in the order of memory. 3 x 3 windows of 8 x 128 channels of 56 x 56, a plane a channel, took 690 us with
  // the channels outside, 360 to 490 with the images (two Zen 4 cores, 2026-11-28).
  bool walks_memory() const {
    double rows = 0;
    for (const auto& operand : context.loops.operands) {
      if (!operand.affine || (in_panel(operand) && stride(operand, tile.vector_loop) != 1)) return false;
      if (!in_panel(operand)) rows += bytes(operand);
    }
    return trips_of(Kind::Row) == 1 && rows <= static_cast<double>(context.target->l2_bytes) / 2 &&
           context.contiguous_loop() == tile.vector_loop;
  }

  // Bytes that one batch reads of the vector operands, or of the others.
  double bytes_of_batch(bool of_panels) const {
    std::vector<int64_t> extents(context.loops.loop_count());
    for (int p = 0; p < outputs(); ++p)
      extents[p] = kind(p) != Kind::Batch ? std::max<int64_t>(context.loops.output[p], 1) : tile.tile[p];
    for (int r = 0; r < context.reductions(); ++r)
      extents[outputs() + r] = std::max<int64_t>(context.loops.reduction[r], 1);
    double bytes = 0;
    for (const auto& operand : context.loops.operands)
      if (operand.affine && in_panel(operand) == of_panels) bytes += context.bytes(operand, extents);
    return bytes;
  }

  // Elements that are copied of an operand for each tile of some loops, all of them: windows of tiles overlap.
  double copied_for_tiles(const Operand& operand, const std::vector<int>& loops) const {
    std::vector<int64_t> extents(context.loops.loop_count());
    double tiles = 1;
    for (int p = 0; p < outputs(); ++p) extents[p] = std::max<int64_t>(context.loops.output[p], 1);
    for (int r = 0; r < context.reductions(); ++r)
      extents[outputs() + r] = std::max<int64_t>(context.loops.reduction[r], 1);
    for (const int p : loops) {
      extents[p] = tile.tile[p];
      if (stride(operand, p) != 0) tiles *= static_cast<double>(trips(p));
    }
    return tiles * context.loops.footprint(*context.program, operand, extents);
  }

  // Each element is copied more than a few times where it is for the tiles of these loops. Dilated windows of 5 x 3
  // over 16 x 32 x 1 x 16 of two channels took 150 us with 10 columns copied for each two, 36 with the whole copied
  // before, and windows of which each element was copied twice and four times 16 and 7.7 us, where the whole took 100
  // and 10.9 (two Zen 4 cores, 2026-11-28).
  bool repeats(const Operand& operand, const std::vector<int>& loops) const {
    constexpr double kAFew = 4.5;
    return copied_for_tiles(operand, loops) > kAFew * whole_footprint(context, operand);
  }
  bool repeats_in_panels() const {
    std::vector<int> panels;
    for (int p = 0; p < outputs(); ++p)
      if (kind(p) != Kind::Row) panels.push_back(p);
    const auto& operands = context.loops.operands;
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
      return operand.affine && stride(operand, tile.vector_loop) > 1 && repeats(operand, panels);
    });
  }
  // How many of the first loops of an order a copy is made inside of so that it does not repeat itself; no fewer than
  // the parallel ones, else none.
  int copy_depth(const Operand& operand, const std::vector<int>& order, int depth, int parallel) const {
    while (depth > 0 && repeats(operand, {order.begin(), order.begin() + depth}))
      depth = depth > parallel ? depth - 1 : 0;
    return depth;
  }

  double bytes(const Operand& operand) const { return tensor_bytes(context.program->tensors[operand.tensor]); }

  // A step along it stays on the line of an operand that is read by single elements.
  bool stays_on_line(int p) const {
    return std::any_of(context.loops.operands.begin(), context.loops.operands.end(), [&](const Operand& operand) {
      const int64_t bytes = stride(operand, p) * dtype_size(context.program->tensors[operand.tensor].type);
      return !in_panel(operand) && bytes > 0 && bytes < codegen::kLineBytes;
    });
  }

  // Outermost first. Within a kind (batches and panels are one where memory is walked through) the target is written in
  // its own order, the vector loop innermost; of the rows those that stay on a line come last, or each of its elements
  // would be fetched anew: a contraction of 33 MB, transposed, took 5.4 to 8.8 ms with them outermost, 2.4 to 3.3 so
  // (tccg06, two Zen 4 cores).
  std::vector<int> loop_order(bool rows_outside) const {
    std::vector<int> order(outputs());
    std::iota(order.begin(), order.end(), 0);
    const bool in_order = walks_memory();
    auto rank = [&](int p) {
      switch (kind(p)) {
        case Kind::Batch:
          return 0;
        case Kind::Panel:
          return (in_order ? 0 : rows_outside ? 5 : 1) + (p == tile.vector_loop ? 1 : 0);
        default:
          return stays_on_line(p) ? 4 : 3;
      }
    };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
    return order;
  }

  int64_t trips_of(Kind wanted) const {
    int64_t product = 1;
    for (int p = 0; p < outputs(); ++p)
      if (kind(p) == wanted) product *= trips(p);
    return product;
  }

  int64_t trips_of(const std::vector<int>& order, size_t begin, size_t end) const {
    int64_t product = 1;
    for (size_t i = begin; i < end; ++i) product *= trips(order[i]);
    return product;
  }
};

// The body stays small where a window that vectors slide over is unrolled as a whole.
bool unrolls_taps(const Layout& layout) {
  const auto& context = layout.context;
  int64_t body = 1;
  for (int p = 0; p < context.outputs(); ++p)
    body *= layout.tile.tile[p] / (p == layout.tile.vector_loop ? layout.tile.lanes : 1);
  for (const int r : window_loops(context, layout.tile.vector_loop))
    body *= std::max<int64_t>(context.loops.reduction[r], 1);
  return body <= costs::kMostUnrolledTaps;
}

// Vectors that rows of the tile load for different taps are the same.
bool is_shared_by_rows(const Layout& layout, int r) {
  const auto& context = layout.context;
  if (!unrolls_taps(layout)) return false;
  for (const Operand& operand : context.loops.operands)
    for (int p = 0; p < context.outputs(); ++p)
      if (p != layout.tile.vector_loop && layout.tile.tile[p] > 1 && operand.affine && layout.in_panel(operand) &&
          share_of_overlap(context, operand, r, p, layout.tile.tile[p]) < 1)
        return true;
  return false;
}

// Reduction loops in the order that walks the operand read by single elements best, widest steps outside.
std::vector<int> reduction_order(const Layout& layout) {
  const auto& context = layout.context;
  std::vector<int> order(context.reductions());
  std::iota(order.begin(), order.end(), 0);
  auto distance = [&](int r) {
    int64_t widest = 0;
    for (const auto& operand : context.loops.operands)
      if (operand.affine && !layout.in_panel(operand))
        widest = std::max(widest, layout.stride(operand, context.outputs() + r));
    return widest;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return distance(a) > distance(b); });
  return order;
}

// The same with taps that rows of the tile share last, so that what is loaded for one row is still there for the next.
std::vector<int> with_shared_taps_last(const Layout& layout, std::vector<int> order) {
  if (usual_dot_product(layout.context) != DotForm::None) return order;
  std::stable_partition(order.begin(), order.end(), [&](int r) { return !is_shared_by_rows(layout, r); });
  return order;
}

std::vector<int> unrolled_taps(const Layout& layout) {
  const auto& context = layout.context;
  std::vector<int> unroll(context.reductions(), 1);
  if (!unrolls_taps(layout)) return unroll;
  for (const int r : window_loops(context, layout.tile.vector_loop))
    unroll[r] = static_cast<int>(std::max<int64_t>(context.loops.reduction[r], 1));
  return unroll;
}

// Stored with what output loop p walks innermost, if there is one, then in the order the reduction walks.
std::vector<int> storage_order(const Layout& layout, const Operand& operand, int p,
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

// True if each single element that is read of an operand is on a line of its own, of which neither the next step of the
// reduction nor another row reads more, though many panels read it again: a copy in the order of the reduction pays.
bool wastes_lines(const Layout& layout, const Operand& operand, const std::vector<int>& reductions) {
  const auto& context = layout.context;
  if (reductions.empty()) return false;
  const int64_t bytes = dtype_size(context.program->tensors[operand.tensor].type);
  if (layout.stride(operand, context.outputs() + reductions.back()) * bytes < codegen::kLineBytes) return false;
  int64_t passes = 1;
  for (int p = 0; p < context.outputs(); ++p) {
    const int64_t distance = layout.stride(operand, p);
    if (distance == 0) passes *= layout.trips(p);
    if (distance != 0 && distance * bytes < codegen::kLineBytes && layout.tile.tile[p] > 1) return false;
  }
  return passes >= costs::kPassesToPack && layout.bytes(operand) <= static_cast<double>(context.target->l3_bytes);
}

// Of a tile's multiples that make a vector of neighbours or so, the one that loses least in the last tile.
int64_t neighbours(int64_t tile, int64_t extent) {
  constexpr int64_t kWanted = 16, kFewest = 8, kMost = 32;  // floats in a vector and in a line of the cache: 16
  const int64_t fewest = std::min(kFewest, extent / tile * tile), most = std::max(kMost, tile);
  std::tuple<int64_t, int64_t, int64_t> best{std::numeric_limits<int64_t>::max(), 0, tile};
  for (int64_t size = tile; size <= std::min(most, extent); size += tile)
    if (size >= fewest) best = std::min(best, {(extent + size - 1) / size * size, std::abs(size - kWanted), size});
  return std::get<2>(best);
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
  grow(across, neighbours(stage.tiles[across].front(), context.loops.output[across]));
  // An eighth of the second cache, half of which is for panels.
  const double most = static_cast<double>(context.target->l2_bytes) / 8;
  const int64_t wanted = is_worth_threads(context, stage.cpu().lanes) ? kPiecesPerThread * context.target->threads : 1;
  for (auto p = stage.order.front().rbegin(); p != stage.order.front().rend() && *p != across; ++p) {
    const int64_t extent = context.loops.output[*p], tile = stage.tiles[*p].front();
    if (extent % tile != 0 || home * static_cast<double>(extent) / static_cast<double>(tile) > most) break;
    int64_t others = 1;
    for (const int q : stage.order.front()) others *= q == *p ? 1 : trip_count(context.loops, stage, q, 0);
    const int64_t pieces = std::min((wanted + others - 1) / others, extent / tile);
    grow(*p, largest_divisor_up_to(extent / tile, extent / tile / pieces) * tile);
    if (stage.tiles[*p].front() < extent) break;
  }
}

// Elements that are copied of vector operands: those that lie otherwise, halves, and what dot-product instructions
// take. Of the others halves, and what does not lie along the sum for those instructions.
double copied_elements(const Layout& layout, bool of_panels) {
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

// Panels are shared out, each copied by the thread that uses it, where the copies, made before all by one thread, would
// take longer than what is lost to threads without a panel and to copies of the rows, which are then made before. 8 x
// 300 by 300 x 512 of bf16 took 26 us with all of them before, 11 so (two Zen 4 cores, 2026-11-27).
bool shares_panels(const Layout& layout) {
  const auto& context = layout.context;
  if (!is_worth_threads(context, layout.tile.lanes)) return false;
  const int64_t batches = layout.trips_of(Layout::Kind::Batch);
  const int64_t panels = batches * layout.trips_of(Layout::Kind::Panel);
  // With batches for all, each thread copies its own in any case.
  if (panels < context.target->threads || batches >= kPiecesPerThread * context.target->threads ||
      layout.repeats_in_panels())
    return false;
  const auto threads = static_cast<double>(context.target->threads);
  const double panels_copied = copied_elements(layout, true) * costs::kTransposedMove,
               rows_copied = copied_elements(layout, false) * costs::kTransposedMove;
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
         panels_copied + (rows_copied + work) / threads;
}

// All panels of a batch stay in half of the second cache, or are read again for every tile of rows in less time than
// all rows, from memory, for every panel: 8 x 128 channels of 193 x 17 in steps of 2, in panels of 180 KB, took 7.1 ms
// with the rows, 14 MB, read again by each of 11 panels, 5.0 so (AVX2 on two Zen 4 cores, 2026-11-27).
bool runs_rows_outside(const Layout& layout) {
  const auto& target = *layout.context.target;
  const double panels = layout.bytes_of_batch(true), rows = layout.bytes_of_batch(false);
  if (panels <= static_cast<double>(target.l2_bytes) / 2) return true;
  const int64_t row_tiles = layout.trips_of(Layout::Kind::Row);
  if (rows <= static_cast<double>(target.l3_bytes) || row_tiles == 1) return false;
  const auto time = [&](double bytes) { return bytes / costs::bytes_a_cycle(target, bytes); };
  return time(rows) + static_cast<double>(row_tiles) * time(panels) <
         time(panels) + static_cast<double>(layout.trips_of(Layout::Kind::Panel)) * time(rows);
}

// The output loop for whose register tile a constant operand is stored: the vector loop, else that of the most rows.
int loop_to_store_for(const Layout& layout, const Operand& operand) {
  if (layout.in_panel(operand)) return layout.tile.vector_loop;
  int best = -1;
  for (int p = 0; p < layout.outputs(); ++p)
    if (layout.tile.tile[p] > 1 && layout.stride(operand, p) != 0 &&
        (best < 0 || layout.tile.tile[p] > layout.tile.tile[best]))
      best = p;
  return best;
}

// The vector operand where it comes from memory and is used once, by the one row of tiles there is: its rows, pages
// apart, are read in long pieces, a few at a time, whose sums wait in the first cache. 8 x 1024 by 1024 x 13160
// took 5.7 ms with 48 columns at a time, 2.3 so; what the last cache holds is slower so (8 x 512 by 512 x 2048: 76 and
// 93 us; two Zen 4 cores, 2026-11-26).
void read_in_long_pieces(const Layout& layout, NestSchedule& stage) {
  constexpr int64_t kLeastRows = 8, kMostRows = 16, kUnrolled = 2;  // of 8 to 32 rows and 1 to 8 of these the fastest
  const auto& context = layout.context;
  const int v = layout.tile.vector_loop;
  const auto size = static_cast<int64_t>(dtype_size(context.type));
  if (stage.order.size() > 1 || !stage.packings.empty() || context.reductions() != 1 || keeps_order(context)) return;
  int64_t rows = 1;
  for (int p = 0; p < layout.outputs(); ++p) {
    if (p == v) continue;
    if (layout.trips(p) > 1) return;
    rows *= layout.tile.tile[p];
  }
  const auto is_streamed = [&](const Operand& operand) {
    return operand.affine && layout.stride(operand, v) == 1 &&
           layout.stride(operand, context.outputs()) * size >= costs::kWayBytes &&
           layout.bytes(operand) >
               static_cast<double>(std::max(context.target->l2_bytes, context.target->l3_bytes / 2));
  };
  if (std::none_of(context.loops.operands.begin(), context.loops.operands.end(), is_streamed)) return;
  const int64_t block = largest_divisor_up_to(context.loops.reduction[0], kMostRows);
  const int64_t extent = context.loops.output[v], tile = stage.tiles[v].front();
  const int64_t most = std::min(context.target->l1_bytes / 2 / (rows * size),
                                extent / (int64_t{kPiecesPerThread} * context.target->threads));
  if (block < kLeastRows || most < 2 * tile) return;
  for (auto& tiles : stage.tiles) tiles.insert(tiles.begin(), tiles.front());
  stage.tiles[v].front() = most / tile * tile;
  stage.order.push_back(stage.order.front());
  stage.reduction_block = {block};
  stage.reduction_unroll = {static_cast<int>(block % kUnrolled == 0 ? kUnrolled : 1)};
}

// Rows of few outputs and vectors beside each other: what a register tile loads for its multiply-adds.
struct SumsTile {
  int64_t rows = 1, vectors = 1;
  double loads() const { return static_cast<double>(rows + vectors) / static_cast<double>(rows * vectors); }
};

SumsTile sums_tile(const Layout& layout, int row_loop) {
  constexpr int64_t kBeside = 2;  // registers for a vector and a broadcast
  const auto& context = layout.context;
  const int64_t most = context.target->vector_registers - kBeside;
  const int64_t rows = row_loop < 0 ? 1 : context.loops.output[row_loop];
  const int64_t vectors = context.loops.output[layout.tile.vector_loop] / layout.tile.lanes;
  SumsTile best;
  for (int64_t r = 1; r <= std::min(rows, most); ++r)
    for (int64_t v = 1; v <= std::min({costs::kMostVectors, vectors, most / r}); v *= 2)
      if (const SumsTile tile{r, v}; rows % r == 0 && tile.loads() < best.loads()) best = tile;
  return best;
}

// A long sum into few outputs, which all wait in the first cache while the operands, each element of which is read
// once from beyond the second, pass by a few steps of the sum at a time: (8192 x 256)^T by 8192 x 7 took 1060 us by
// register tiles with copies for them, 245 so, (4096 x 1024)^T by 4096 x 3 1150 and 240 (AVX2 on two Zen 4 cores,
// 2026-11-27). The sum's pieces are shared out (run_reduction_in_parallel()).
std::optional<NestSchedule> sums_in_first_cache(const Layout& layout) {
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
  int row_loop = -1;
  int64_t outputs = 1;
  for (int p = 0; p < layout.outputs(); ++p) {
    outputs *= std::max<int64_t>(context.loops.output[p], 1);
    if (p == v || context.loops.output[p] <= 1) continue;
    if (row_loop >= 0) return std::nullopt;
    row_loop = p;
  }
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
    bytes += layout.bytes(operand);
  }
  const int64_t sum = context.loops.reduction[0];
  if (outputs * size > context.target->l1_bytes / 2 || bytes <= static_cast<double>(context.target->l2_bytes) ||
      sum < outputs)
    return std::nullopt;
  const SumsTile sums = sums_tile(layout, row_loop);
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

}  // namespace

NestSchedule contraction_stage(const StageContext& context, const RegisterTile& tile) {
  const Layout layout{context, tile};
  if (const auto sums = sums_in_first_cache(layout)) return *sums;
  NestSchedule stage;
  stage.cpu().vector_loop = tile.vector_loop;
  stage.cpu().lanes = tile.lanes;
  for (const int64_t size : tile.tile) stage.tiles.push_back({size});
  const bool shares = !layout.copies_batches() && shares_panels(layout);
  const bool rows_outside = !shares && !layout.walks_memory() && (layout.copies_batches() || runs_rows_outside(layout));
  const auto order = layout.loop_order(rows_outside);
  stage.order = {order};
  collect_neighbours(context, stage);
  stage.reduction_order = reduction_order(layout);
  stage.reduction_block = context.loops.reduction;
  for (auto& block : stage.reduction_block) block = std::max<int64_t>(block, 1);
  stage.reduction_unroll = unrolled_taps(layout);

  auto is_before_pack = [&](int p) {
    return layout.kind(p) == Layout::Kind::Batch || (!rows_outside && layout.kind(p) == Layout::Kind::Panel);
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
  const int64_t passes =
      layout.trips_of(order, packed_at, order.size()) / (rows_outside ? layout.trips(tile.vector_loop) : 1);
  for (const auto& operand : context.loops.operands) {
    if (codegen::is_packed_beforehand(*context.program, operand)) {
      const int loop = loop_to_store_for(layout, operand);
      if (loop >= 0 && packing_dimension(context, operand, loop) >= 0)
        stage.packings.push_back({operand.number, 0, storage_order(layout, operand, loop, stage.reduction_order)});
      continue;
    }
    if (operand.affine && !layout.in_panel(operand) && wastes_lines(layout, operand, stage.reduction_order))
      stage.packings.push_back({operand.number, 0, storage_order(layout, operand, -1, stage.reduction_order)});
    if (!operand.affine || !layout.in_panel(operand)) continue;
    const bool strided = layout.stride(operand, tile.vector_loop) != 1;
    if (packing_dimension(context, operand, tile.vector_loop) < 0) continue;
    if (!strided && (depth == 0 || rows_outside || passes < costs::kPassesToPack)) continue;
    // A small operand that loops around the copy do not use is copied once for all of them.
    const bool again = std::any_of(order.begin(), order.begin() + depth,
                                   [&](int p) { return layout.trips(p) > 1 && layout.stride(operand, p) == 0; });
    const bool is_small = layout.bytes(operand) <= static_cast<double>(context.target->l2_bytes) / 2;
    const int at = again && is_small ? 0 : layout.copy_depth(operand, order, depth, stage.cpu().parallel);
    stage.packings.push_back(
        {operand.number, at, storage_order(layout, operand, tile.vector_loop, stage.reduction_order)});
  }
  stage.reduction_order = with_shared_taps_last(layout, stage.reduction_order);
  read_in_long_pieces(layout, stage);
  return stage;
}

}  // namespace tile_tune::search
