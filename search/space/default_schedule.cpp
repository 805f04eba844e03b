// The schedule a program gets without any search: an analytical model of vectors, registers and reuse.
//
// Reductions that use their operands many times: contraction_schedule.h. The others here: one tile level, the register
// tile. Vectors run along the output loop in which the operands are contiguous, or
// in lanes of the reduction if only that one is (matrix-vector products). Rows of the register tile run along
// the loop that reuses the vector operand. An operand that would be loaded with a stride, or whose panel is
// read again by many rows, is packed once a panel.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "frontend/ir/storage.h"
#include "search/space/choices.h"
#include "codegen/schedule/dot_product.h"
#include "codegen/target/costs.h"
#include "search/space/contraction_schedule.h"
#include "search/space/default_parallel.h"
#include "search/space/default_scan.h"
#include "search/space/gpu_default.h"
#include "search/space/lane_tile.h"
#include "search/space/moves.h"
#include "search/space/term_size.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Operand;
using codegen::Packing;

// Register tiles come in several widths, and the model cannot tell close ones apart (costs::kWorthATrial); three trials
// a statement are the most that is risked.
constexpr size_t kAlternatives = 3;

struct Model {
  const StageContext& context;

  int64_t stride(const Operand& operand, int loop) const { return context.distance(operand, loop); }

  int natural_lanes() const { return std::max(context.target->lanes(context.type), 1); }

  int64_t extent(int loop) const {
    return loop < context.outputs() ? context.loops.output[loop] : context.loops.reduction[loop - context.outputs()];
  }

  double iterations() const {
    double count = 1;
    for (int loop = 0; loop < context.loops.loop_count(); ++loop)
      count *= static_cast<double>(std::max<int64_t>(extent(loop), 1));
    return count;
  }

  int64_t target_stride(int p) const {
    return codegen::output_stride(*context.program, context.program->statements[context.statement], context.loops, p);
  }

  // How often an element of the operand is used by iterations that differ in output loops only.
  double output_reuse(const Operand& operand) const {
    double reuse = 1;
    for (int p = 0; p < context.outputs(); ++p)
      if (stride(operand, p) == 0) reuse *= static_cast<double>(context.loops.output[p]);
    return reuse;
  }

  double bytes_of(const Operand& operand) const {
    std::vector<int64_t> extents;
    for (int loop = 0; loop < context.loops.loop_count(); ++loop) extents.push_back(std::max<int64_t>(extent(loop), 1));
    return context.bytes(operand, extents);
  }

  double bytes_read() const {
    double bytes = 0;
    for (const auto& operand : context.loops.operands)
      if (operand.affine) bytes += bytes_of(operand);
    return bytes;
  }

  // Bound by memory, since nothing uses most of what is read twice: products of a large matrix and a vector.
  bool is_streamed() const {
    constexpr double kMostly = 4;  // a chosen bound: nobody uses the rest often enough to be in its way
    double once = 0, again = 0;
    for (const auto& operand : context.loops.operands) {
      if (!operand.affine) return false;
      const double bytes = bytes_of(operand);
      (iterations() * dtype_size(context.program->tensors[operand.tensor].type) <= bytes ? once : again) += bytes;
    }
    return once > kMostly * again && once > static_cast<double>(context.target->l2_bytes);
  }

  // Cost of vectorising one loop, in vector operations an iteration: 1/lanes for contiguous or broadcast accesses, two an
  // element for strided ones, unless the operand is reused so much that packing it is nearly free.
  double vector_cost(int loop) const {
    const bool reduces = loop >= context.outputs();
    const int64_t most = std::clamp<int64_t>(extent(loop), 1, natural_lanes());
    const auto lanes = static_cast<double>(reduces ? std::bit_floor(static_cast<uint64_t>(most)) : most);
    double cost = 0;
    for (const auto& operand : context.loops.operands) {
      const int64_t distance = operand.affine ? stride(operand, loop) : 2;
      const bool packable = operand.affine && output_reuse(operand) >= natural_lanes();
      if (distance <= 1 || packable)
        cost += 1 / lanes;
      else
        cost += distance <= costs::kMostShuffled ? std::min(2 * static_cast<double>(distance) / lanes, costs::kScalarMove)
                                                 : costs::kScalarMove;
    }
    if (!reduces)
      return cost + operations() / lanes + (target_stride(loop) == 1 ? 1 / lanes : 1.0) / reduction_length();
    // Sums depend on each other; what fills no vector takes one more, and lanes are added up at the end.
    const auto length = static_cast<double>(extent(loop));
    return (cost + 1 / (lanes * 4)) * std::ceil(length / lanes) * lanes / length + costs::kFolds / reduction_length();
  }

  double reduction_length() const {
    double length = 1;
    for (const int64_t extent : context.loops.reduction) length *= static_cast<double>(std::max<int64_t>(extent, 1));
    return length;
  }

  double operations() const {
    return static_cast<double>(operations_of_iteration(context.program->statements[context.statement]));
  }

  int best_vector_loop() const {
    int best = -1;
    // Scalar code: a load an operand, a store.
    double lowest = static_cast<double>(context.loops.operands.size()) + operations() + 1 / reduction_length();
    for (int loop = context.loops.loop_count() - 1; loop >= 0; --loop) {
      if (extent(loop) < 2) continue;
      if (loop >= context.outputs() && extent(loop) < costs::kFewestLanes) continue;
      const double cost = vector_cost(loop);
      if (cost < lowest) {
        lowest = cost;
        best = loop;
      }
    }
    return best;
  }

  // The output loop, other than the vector loop, along which most operands stay put: their loads serve several rows.
  int best_row_loop(int vector_loop) const {
    int best = -1;
    double most = 0;
    for (int p = 0; p < context.outputs(); ++p) {
      if (p == vector_loop || context.loops.output[p] < 2) continue;
      double reused = 0;
      for (const auto& operand : context.loops.operands)
        if (operand.affine && stride(operand, p) == 0)
          reused += stride(operand, vector_loop) != 0 ? 1 : costs::kSharedBroadcast;
      if (reused > most) {
        most = reused;
        best = p;
      }
    }
    return best;
  }

  // Reductions in which nothing is reused (pools) are bound by memory, which wants to be read in order: one row of the
  // operand after the other, the accumulators of a whole output row at home in the first cache. 2x2 max-pooling of
  // 268 MB ran at 40 GB/s so; with both rows of a window at once at 24, and at 32 with eight such pairs as streams
  // (two Zen 4 cores whose memory gives 48).
  // What caches hold is read in any order, and longer windows want more sums in flight than a row's.
  bool walks_rows(int vector_loop, int row_loop) const {
    constexpr int64_t kShortest = 2;  // vectors; of shorter rows the accumulators at home are all the work
    const bool is_short = reduction_length() < costs::kManyRows;
    const int64_t cache = std::max(context.target->l2_bytes, is_short ? context.target->l3_bytes / 2 : 0);
    return row_loop < 0 && vector_loop >= 0 && vector_loop < context.outputs() &&
           (bytes_read() > static_cast<double>(cache) || reduction_length() < costs::kInFlight) &&
           extent(vector_loop) >= kShortest * natural_lanes() && !row_reductions(vector_loop).empty();
  }

  // Reduction loops one step of which leaves the piece of a row that one vector of outputs reads.
  std::vector<int> row_reductions(int vector_loop) const {
    std::vector<int> result;
    for (int r = 0; r < context.reductions(); ++r) {
      const bool leaves =
          std::any_of(context.loops.operands.begin(), context.loops.operands.end(), [&](const Operand& operand) {
            const int64_t along_row = stride(operand, vector_loop);
            return operand.affine && along_row != 0 &&
                   stride(operand, context.outputs() + r) > natural_lanes() * along_row;
          });
      if (leaves && context.loops.reduction[r] > 1) result.push_back(r);
    }
    return result;
  }

  // Steps of the reduction go to another page though they have not walked through as much in a row.
  bool leaves_pages(const Operand& operand, int vector_loop) const {
    const int64_t bytes = dtype_size(context.program->tensors[operand.tensor].type);
    std::vector<std::pair<int64_t, int64_t>> steps;  // and how often
    for (int r = 0; r < context.reductions(); ++r)
      steps.emplace_back(stride(operand, context.outputs() + r) * bytes, context.loops.reduction[r]);
    std::sort(steps.begin(), steps.end());
    int64_t run = extent(vector_loop) * stride(operand, vector_loop) * bytes;
    for (const auto& [step, count] : steps) {
      if (step > costs::kWayBytes && run < costs::kWayBytes) return true;
      if (step <= run) run = step * count;
    }
    return false;
  }

  // Rows whose sums fit the registers, or those of half a row do, need no home where neighbouring rows share pages:
  // 0 if there is none.
  int64_t tile_in_registers(int vector_loop, int64_t lanes) const {
    const int64_t vectors = (extent(vector_loop) + lanes - 1) / lanes,
                  most = static_cast<int64_t>(context.target->vector_registers * costs::kRegistersForRows);
    if (reduction_length() < costs::kManyRows) return 0;
    for (const auto& operand : context.loops.operands)
      if (leaves_pages(operand, vector_loop)) return 0;
    for (int64_t pieces = (vectors + most - 1) / most; pieces <= 2; ++pieces)
      if (const int64_t tile = (vectors + pieces - 1) / pieces * lanes; tile <= extent(vector_loop)) return tile;
    return 0;
  }

  // As many as keep the threads busy where there are no other tiles, if they are long enough to be read as streams.
  int64_t pieces_of_row(int64_t extent) const {
    const int64_t threads = context.target->threads, wanted = kPiecesPerThread * threads / 2;
    int64_t others = 1;
    for (const int64_t rows : context.loops.output) others *= std::max<int64_t>(rows, 1);
    if (!is_worth_threads(context, natural_lanes()) || others / extent >= wanted) return 1;
    return std::clamp<int64_t>(extent * static_cast<int64_t>(dtype_size(context.type)) / costs::kShortestStream, 1,
                               wanted);
  }

  // The output row cut into equal pieces whose accumulators fill at most a quarter of the first cache.
  int64_t row_tile(int64_t extent, int64_t lanes) const {
    const int64_t most = std::max(context.target->l1_bytes / 4 / static_cast<int64_t>(dtype_size(context.type)), lanes);
    for (int64_t pieces = pieces_of_row(extent);; ++pieces) {
      const int64_t tile = ((extent + pieces - 1) / pieces + lanes - 1) / lanes * lanes;
      if (tile <= std::min(extent, most) || tile == lanes) return tile;
    }
  }

  // Where no operand stays put: the output loop, beside the vector loop if there is one, with the nearest steps in
  // memory, along which more sums are in flight; -1: none. Maxima over 71 rows of 4 floats took 2.3 us eight at a time, 5.3 one by one.
  int loop_of_more_sums(int vector_loop) const {
    int best = -1;
    int64_t nearest = 0;
    for (int p = context.outputs(); p-- > 0;) {
      if (p == vector_loop || context.loops.output[p] < 2) continue;
      int64_t widest = 0;
      for (const auto& operand : context.loops.operands)
        widest = std::max(widest, operand.affine ? stride(operand, p) : 0);
      if (best < 0 || widest < nearest) best = p, nearest = widest;
    }
    return best;
  }

  bool moves_in_steps(int vector_loop) const {
    return std::any_of(context.loops.operands.begin(), context.loops.operands.end(), [&](const Operand& operand) {
      return operand.affine && stride(operand, vector_loop) > 1;
    });
  }

  struct Tile {
    int64_t vectors = 1, rows = 1;
  };

  // Vectors x rows of accumulators, for the best ratio of arithmetic to loads that registers hold: a vector load a
  // column, a broadcast a row. Iterations that a shifted last tile repeats count as lost.
  Tile register_tile(int64_t vector_extent, int64_t lanes, int64_t row_extent) const {
    Tile best;
    double lowest = HUGE_VAL;
    for (int64_t vectors = 1; vectors <= costs::kMostVectors && vectors * lanes <= vector_extent; ++vectors) {
      for (int64_t rows = 1; rows <= std::min(row_extent, costs::kMostRows); ++rows) {
        const int64_t accumulators = vectors * rows;
        if (accumulators + vectors + 1 > context.target->vector_registers) continue;
        const double loads = static_cast<double>(vectors + rows) / static_cast<double>(accumulators);
        const double latency = std::max(1.0, costs::kInFlight / static_cast<double>(accumulators));
        const double cost =
            repeated(vector_extent, vectors * lanes) * repeated(row_extent, rows) * (1 + loads) * latency;
        if (cost < lowest) {
          lowest = cost;
          best = {vectors, rows};
        }
      }
    }
    return best;
  }

  // The same where nothing is used twice: so many sums that their latency is hidden, or nearly, and last tiles repeat
  // few. Of equal ones the widest.
  static Tile tile_of_sums(int64_t vector_extent, int64_t lanes, int64_t row_extent) {
    Tile best;
    double lowest = HUGE_VAL;
    for (int64_t vectors = std::clamp<int64_t>(vector_extent / lanes, 1, costs::kMostVectors); vectors >= 1; --vectors)
      for (int64_t rows = 1; rows <= row_extent && vectors * rows <= static_cast<int64_t>(costs::kInFlight); ++rows) {
        const double cost = repeated(vector_extent, vectors * lanes) * repeated(row_extent, rows) *
                            std::max(1.0, costs::kInFlight / static_cast<double>(vectors * rows));
        if (cost >= lowest) continue;
        lowest = cost;
        best = {vectors, rows};
      }
    return best;
  }

  static double repeated(int64_t extent, int64_t tile) {
    const int64_t computed = (extent + tile - 1) / tile * tile;
    return static_cast<double>(computed) / static_cast<double>(extent);
  }
};

// Loops shared by all operands first (they are batches), then the panels of the vector loop, then rows.
std::vector<int> loop_order(const Model& model, const NestSchedule& stage, int row_loop) {
  std::vector<int> order(model.context.outputs());
  std::iota(order.begin(), order.end(), 0);
  auto rank = [&](int p) {
    if (p == row_loop) return 2;
    if (p == stage.cpu().vector_loop) return row_loop >= 0 ? 1 : 3;
    return 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank(a) < rank(b); });
  return order;
}

// As many outermost loops as give every thread several pieces, if these are not too short; none for little work.
int parallel_loops(const Model& model, const NestSchedule& stage) {
  const int threads = model.context.target->threads;
  if (!is_worth_threads(model.context, stage.cpu().lanes)) return 0;
  const double cycles = least_cycles(model.context, stage.cpu().lanes);
  int64_t pieces = 1;
  for (size_t i = 0; i < stage.order[0].size(); ++i) {
    const int64_t trips = trip_count(model.context.loops, stage, stage.order[0][i], 0);
    if (pieces >= threads && cycles / static_cast<double>(pieces * trips) < costs::kLeastPiece)
      return static_cast<int>(i);
    pieces *= trips;
    if (pieces >= kPiecesPerThread * threads) return static_cast<int>(i) + 1;
  }
  return static_cast<int>(stage.order[0].size());
}

// Packs, once a panel of the vector loop, the operand that the rows read again and again along that loop.
void pack_panels(const Model& model, NestSchedule& stage, int row_loop) {
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

// Loops, from the outermost on, that all use the operand or have one tile: a copy inside them is made no more often than
// one before them, and is smaller. 0 if the parallel ones are not among them.
int copy_depth(const Model& model, const NestSchedule& stage, const Operand& operand) {
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
void pack_for_dots(const Model& model, NestSchedule& stage) {
  const auto& context = model.context;
  const auto& statement = context.program->statements[context.statement];
  const auto dot = codegen::dot_product(statement, context.loops, stage);
  if (!dot || dot->in_lanes || !context.target->has_dot_products()) return;
  const auto pack = [&](int number, const std::vector<int>& order) {
    if (std::none_of(stage.packings.begin(), stage.packings.end(),
                     [&](const Packing& packing) { return packing.operand == number; }))
      stage.packings.push_back({number, copy_depth(model, stage, context.loops.operands[number]), order});
  };
  pack(dot->column, panel_packing(context, stage, dot->column).order);
  const Operand& row = context.loops.operands[1 - dot->column];
  if (model.stride(row, context.outputs() + dot->loop) <= 1) return;
  pack(row.number, order_along(context, row, context.loops.reduction_index[dot->loop]));
}

// Halves that are read again and again are widened once, in a copy as they lie in memory. (512 x 512 products: 1.39 ms
// with the rows' copies made tile by tile, 2.24 with both made as a whole; two Zen 4 cores.)
NestSchedule suited_to_types(const Model& model, NestSchedule stage) {
  stage.dot_product = true;  // where there are any
  const auto& context = model.context;
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

void choose_reduction(const Model& model, NestSchedule& stage) {
  const auto& context = model.context;
  const int vector = stage.cpu().vector_loop;
  // Vectors that move over a window in steps share what is loaded and shuffled for its taps.
  const auto sharing = vector >= 0 && vector < context.outputs() && model.moves_in_steps(vector)
                           ? window_loops(context, vector)
                           : std::vector<int>{};
  const auto most_taps = [&](int r) {
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
    stage.reduction_block[r] = context.loops.reduction[r] >= costs::kManyRows ? costs::kRowsAtOnce : 1;
    stage.reduction_unroll[r] = 1;
  }
}

NestSchedule product_in_lanes(const Model& model, const RegisterTile& tile) {
  const auto& context = model.context;
  NestSchedule stage;
  stage.cpu().vector_loop = tile.vector_loop;
  stage.cpu().lanes = tile.lanes;
  for (const int64_t size : tile.tile) stage.tiles.push_back({size});
  stage.order = {loop_order(model, stage, -1)};
  choose_reduction(model, stage);
  // Innermost, as dot products have it.
  std::stable_partition(stage.reduction_order.begin(), stage.reduction_order.end(),
                        [&](int r) { return context.outputs() + r != tile.vector_loop; });
  stage.dot_product = iterations_in_lane(context) > 1;
  stage.cpu().parallel = parallel_loops(model, stage);
  const int index = context.loops.reduction_index[tile.vector_loop - context.outputs()];
  for (const auto& operand : context.loops.operands)
    if (is_copied_for_lanes(context, operand, tile.vector_loop, tile.tile))
      stage.packings.push_back(
          {operand.number, copy_depth(model, stage, operand), order_along(context, operand, index)});
  return stage;
}

/// Loops of an element-wise statement that reads neighbours along others than it writes: vectors are along `source`.
struct Transposed {
  int source = -1;
  int run = -1;  // which goes on, from short runs of neighbours along this loop; -1: it has the neighbours itself
};

/// For each output loop so many iterations as make `wanted` neighbours of the target and more, as far as its innermost
/// loops lie as one and are not the source's: 4 x 6 of out(c,b,a), where a has 6. (6 x 256 x 64 to 64 x 256 x 6: 72 us
/// with 6 neighbours at a time, 11 with 24; two Zen 4 cores, 2026-11-27.)
std::vector<int64_t> neighbours_of_target(const Model& model, const Transposed& loops, int64_t wanted) {
  const auto& context = model.context;
  std::vector<int64_t> rows(context.outputs(), 1);
  int64_t joined = 1;
  const auto next = [&] {
    for (int p = 0; p < context.outputs(); ++p)
      if (p != loops.source && p != loops.run && rows[p] == 1 && context.loops.output[p] > 1 &&
          model.target_stride(p) == joined)
        return p;
    return -1;
  };
  for (int p = next(); p >= 0; p = next()) {
    const int64_t extent = context.loops.output[p];
    const auto missing = std::bit_ceil(static_cast<uint64_t>((wanted + joined - 1) / joined));
    rows[p] = std::min(extent, static_cast<int64_t>(missing));
    joined *= rows[p];
    if (rows[p] < extent || joined >= wanted) break;
  }
  return rows;
}

int64_t joined(const std::vector<int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), int64_t{1}, std::multiplies());
}

// Of a statement that reads about as much as it writes; nullopt where it reads and writes neighbours along one loop.
// Fewer neighbours of the target than are worth shuffles are still stored together, interleaved: 3 x 12288 to 12288 x 3
// took 10 us column by column, 2.6 so. Sources whose runs are short go on along the next loop: 8 x 6144 x 3 to
// 6144 x 3 x 8 took 23 us, and 7 so (two Zen 4 cores, 2026-11-27).
std::optional<Transposed> transposed_loops(const Model& model) {
  const auto& context = model.context;
  const int across = context.contiguous_loop();
  if (context.reductions() > 0 || across < 0) return std::nullopt;
  const auto extent = [&](int p) { return context.loops.output[p]; };
  for (const auto& operand : context.loops.operands) {
    if (!operand.affine || model.stride(operand, across) <= 1 || model.output_reuse(operand) >= costs::kPassesToPack)
      continue;
    const auto with_step = [&](int64_t step) {
      for (int p = 0; p < context.outputs(); ++p)
        if (model.stride(operand, p) == step && extent(p) > 1) return p;
      return -1;
    };
    Transposed loops{with_step(1)};
    if (loops.source >= 0 && extent(loops.source) <= costs::kMostShuffled) {
      const int next = with_step(extent(loops.source));
      if (next >= 0 && next != across) loops = {next, loops.source};
    }
    if (loops.source < 0 || loops.source == across || extent(loops.source) < costs::kLeastTransposed) continue;
    if (joined(neighbours_of_target(model, loops, costs::kLeastTransposed)) > 1) return loops;
  }
  return std::nullopt;
}

// As many as suit caches and fit, but for those that a last tile, moved back, computes again.
int64_t blocks_together(int64_t extent, int64_t rows) {
  constexpr double kMostAgain = 1.2;  // what single blocks lose to such tiles: costs::kTransposedBlocks
  int64_t blocks = std::min(costs::kTransposedBlocks, extent / rows);
  while (blocks > 1 && Model::repeated(extent, blocks * rows) > kMostAgain * Model::repeated(extent, rows)) --blocks;
  return blocks;
}

// Blocks of vectors along the source by as many neighbours of the target, which are transposed in registers
// (codegen/lower/transposes.h).
NestSchedule transposing_stage(const Model& model, const Transposed& loops) {
  const auto& context = model.context;
  NestSchedule stage;
  stage.cpu().vector_loop = loops.source;
  const int side = std::min(model.natural_lanes(), static_cast<int>(costs::kMostTransposedRows));
  stage.cpu().lanes = loops.run < 0 ? side : std::max(side / 2, 1);
  while (stage.cpu().lanes > context.loops.output[loops.source]) stage.cpu().lanes /= 2;
  const int across = context.contiguous_loop();
  const auto neighbours = neighbours_of_target(model, loops, side);
  for (int p = 0; p < context.outputs(); ++p) {
    const int64_t extent = context.loops.output[p];
    const int64_t rows = p == loops.source ? stage.cpu().lanes : p == loops.run ? extent : neighbours[p];
    const bool has_lines = p == loops.source && loops.run >= 0;  // runs fill whole ones already
    stage.tiles.push_back({rows == 1 || has_lines ? rows : blocks_together(extent, rows) * rows, rows});
  }
  stage.order.assign(2, loop_order(model, stage, across));
  // Neighbours of the target one after the other.
  std::stable_partition(stage.order[1].begin(), stage.order[1].end(),
                        [&](int p) { return p == loops.source || neighbours[p] == 1; });
  stage.cpu().parallel = parallel_loops(model, stage);
  return stage;
}

// The output loop with the nearest steps in memory among those that leave the run, `distance` by loop; -1: none.
template <typename Distance>
int next_loop(const StageContext& context, int run, Distance distance) {
  int best = -1;
  for (int p = 0; p < context.outputs(); ++p)
    if (p != run && context.loops.output[p] > 1 && (best < 0 || distance(p) < distance(best))) best = p;
  return best;
}

// Where a loop goes on from a short run in operand and target alike, vectors are along that one: (16 x 32 x 4 x 8 x 2)
// to (16 x 4 x 32 x 8 x 2) took 9.1 us pair by pair, 2.4 so (Zen 4, 2026-11-27).
void use_longer_run(const Model& model, NestSchedule& stage, int run, int next, int64_t operand_stride) {
  const auto& loops = model.context.loops;
  const int64_t lanes =
      std::min<int64_t>(model.natural_lanes(), std::bit_floor(static_cast<uint64_t>(loops.output[next])));
  if (operand_stride != loops.output[run] || model.target_stride(next) != loops.output[run] ||
      loops.output[run] >= costs::kLeastTransposed || lanes < costs::kLeastTransposed)
    return;
  stage.cpu().vector_loop = next;
  stage.cpu().lanes = static_cast<int>(lanes);
  stage.tiles[next].back() = lanes;
  stage.tiles[run].back() = loops.output[run];
}

// What the operand has between neighbours of the target is stored as well while it is at hand: 12288 x 3 to 3 x 12288
// took 5.8 us row by row, 2.7 so (Zen 4, 2026-11-27).
void use_whole_runs(const Model& model, NestSchedule& stage) {
  const auto& context = model.context;
  const int vector = stage.cpu().vector_loop;
  if (context.reductions() > 0 || vector < 0 || vector != context.contiguous_loop()) return;
  for (const auto& operand : context.loops.operands) {
    const int64_t step = operand.affine ? model.stride(operand, vector) : 1;
    if (step < 2 || step > costs::kMostShuffled) continue;
    for (int p = 0; p < context.outputs(); ++p)
      if (model.stride(operand, p) == 1 && context.loops.output[p] == step) stage.tiles[p].back() = step;
  }
}

// An element-wise statement whose operand and target are neighbours along one loop, but for less than a line, and then
// along others: tiles as wide as a line in the operand's next loop and in the target's, so that lines are used as a
// whole before they are lost. (144 x 128 x 2) to (128 x 144 x 2): 17 us pair by pair, 5.1 in blocks of 4 x 4 pairs and
// more (Zen 4, 2026-11-27).
void use_whole_lines(const Model& model, NestSchedule& stage) {
  const auto& context = model.context;
  const int run = stage.cpu().vector_loop;
  if (context.reductions() > 0 || run < 0 || run != context.contiguous_loop()) return;
  const int64_t run_bytes = context.loops.output[run] * static_cast<int64_t>(dtype_size(context.type));
  if (run_bytes > codegen::kLineBytes / 2) return;
  const int64_t in_a_line = codegen::kLineBytes / std::max<int64_t>(run_bytes, 1);
  const int to = next_loop(context, run, [&](int p) { return model.target_stride(p); });
  for (const auto& operand : context.loops.operands) {
    if (!operand.affine || model.stride(operand, run) != 1) continue;
    const int from = next_loop(context, run, [&](int p) { return model.stride(operand, p); });
    if (from < 0 || to < 0 || model.stride(operand, from) == 0) continue;
    if (from == to) {
      use_longer_run(model, stage, run, to, model.stride(operand, to));
      return;
    }
    for (const int p : {from, to}) stage.tiles[p].back() = std::min(in_a_line, context.loops.output[p]);
    return;
  }
}

}  // namespace

NestSchedule default_stage(const StageContext& context) { return default_stages(context).front(); }

std::vector<NestSchedule> default_stages(const StageContext& context) {
  if (context.target->device == codegen::Device::Gpu) return default_stages_on_gpu(context);
  if (const auto scan = default_scan(context)) return {*scan};
  NestSchedule stage;
  const Model model{context};
  if (const auto transposed = transposed_loops(model)) return {transposing_stage(model, *transposed)};
  stage.cpu().vector_loop = model.best_vector_loop();
  const bool sums = model.reduction_length() > 1;
  const auto tiles =
      sums && !model.is_streamed() ? register_tiles_by_width(context) : std::vector<RegisterTile>{};
  if (!tiles.empty()) {
    double lowest = HUGE_VAL;
    for (int r = 0; r < context.reductions(); ++r)
      if (context.loops.reduction[r] >= model.natural_lanes())
        lowest = std::min(lowest, lane_reduction_cost(context, context.outputs() + r));
    std::vector<NestSchedule> stages;
    if (const auto in_lanes = best_lane_tile(context)) {
      const double trusted = in_lanes->is_small ? 1 : costs::kOverestimated;
      const double others =
          (tiles[0].cost - tiles[0].moves) / trusted / iterations_in_lane(context) + tiles[0].moves;
      if (in_lanes->tile.cost < std::min(others, lowest)) stages.push_back(product_in_lanes(model, in_lanes->tile));
    }
    if (!stages.empty() || tiles[0].cost <= lowest) {
      for (const RegisterTile& tile : tiles)
        if (stages.size() <= kAlternatives && tile.cost <= costs::kWorthATrial * tiles[0].cost)
          stages.push_back(suited_to_types(model, contraction_stage(context, tile)));
      return stages;
    }
  }
  stage.tiles.assign(context.outputs(), {1});
  // One by one, as many sums as hide their latency.
  if (stage.cpu().vector_loop < 0 && model.reduction_length() >= costs::kInFlight)
    if (const int more = model.loop_of_more_sums(-1); more >= 0)
      stage.tiles[more].back() = Model::tile_of_sums(1, 1, context.loops.output[more]).rows;
  int row_loop = -1;
  int64_t unroll_lanes = 1;
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
    const int64_t whole = walks ? model.tile_in_registers(stage.cpu().vector_loop, stage.cpu().lanes) : 0;
    if (whole > 0) {
      stage.tiles[stage.cpu().vector_loop] = {whole};
    } else if (walks) {
      for (auto& tiles : stage.tiles) tiles = {1, 1};
      stage.tiles[stage.cpu().vector_loop] = {model.row_tile(extent, stage.cpu().lanes), stage.cpu().lanes};
    } else if (stage.cpu().vector_loop < context.outputs()) {
      const auto tile = more >= 0 ? Model::tile_of_sums(extent, stage.cpu().lanes, context.loops.output[more])
                                  : model.register_tile(extent, stage.cpu().lanes, row_extent);
      stage.tiles[stage.cpu().vector_loop].back() = tile.vectors * stage.cpu().lanes;
      if (rows_along >= 0) stage.tiles[rows_along].back() = tile.rows;
    } else {
      const bool is_short = model.reduction_length() < costs::kShortRow * stage.cpu().lanes;
      const int64_t rows = std::min(is_short ? static_cast<int64_t>(costs::kInFlight) : costs::kRowStreams,
                                    rows_along >= 0 ? context.loops.output[rows_along] : 1);
      if (rows_along >= 0) stage.tiles[rows_along].back() = rows;
      // And lanes enough for all sums in flight.
      unroll_lanes = std::clamp<int64_t>(static_cast<int64_t>(costs::kInFlight) / rows, 1,
                                         std::max<int64_t>(extent / stage.cpu().lanes, 1));
    }
  }
  use_whole_runs(model, stage);
  use_whole_lines(model, stage);
  if (!sums) row_loop = -1;  // results are written in the order in which they lie
  stage.order.assign(stage.tiles.empty() ? 1 : stage.tiles.front().size(), loop_order(model, stage, row_loop));
  choose_reduction(model, stage);
  if (stage.cpu().vector_loop >= context.outputs())
    stage.reduction_unroll[stage.cpu().vector_loop - context.outputs()] = static_cast<int>(unroll_lanes);
  stage.cpu().parallel = parallel_loops(model, stage);
  pack_panels(model, stage, row_loop);
  return {suited_to_types(model, std::move(stage))};
}

}  // namespace tile_tune::search
