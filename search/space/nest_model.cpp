#include "search/space/nest_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "codegen/target/costs.h"
#include "search/space/default_parallel.h"
#include "search/space/term_size.h"

namespace tile_tune::search {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Operand;

int64_t NestModel::stride(const Operand& operand, int loop) const { return context.distance(operand, loop); }

int NestModel::natural_lanes() const { return std::max(context.target->lanes(context.type), 1); }

int64_t NestModel::extent(int loop) const {
  return loop < context.outputs() ? context.loops.output[loop] : context.loops.reduction[loop - context.outputs()];
}

double NestModel::iterations() const {
  double count = 1;
  for (int loop = 0; loop < context.loops.loop_count(); ++loop)
    count *= static_cast<double>(std::max<int64_t>(extent(loop), 1));
  return count;
}

int64_t NestModel::target_stride(int p) const {
  return codegen::output_stride(*context.program, context.program->statements[context.statement], context.loops, p);
}

double NestModel::output_reuse(const Operand& operand) const {
  double reuse = 1;
  for (int p = 0; p < context.outputs(); ++p)
    if (stride(operand, p) == 0) reuse *= static_cast<double>(context.loops.output[p]);
  return reuse;
}

double NestModel::bytes_of(const Operand& operand) const {
  std::vector<int64_t> extents;
  for (int loop = 0; loop < context.loops.loop_count(); ++loop) extents.push_back(std::max<int64_t>(extent(loop), 1));
  return context.bytes(operand, extents);
}

double NestModel::bytes_read() const {
  double bytes = 0;
  for (const auto& operand : context.loops.operands)
    if (operand.affine) bytes += bytes_of(operand);
  return bytes;
}

bool NestModel::is_streamed() const {
  constexpr double kMostly = 4;  // a chosen bound: nobody uses the rest often enough to be in its way
  double once = 0, again = 0;
  for (const auto& operand : context.loops.operands) {
    if (!operand.affine) return false;
    const double bytes = bytes_of(operand);
    (iterations() * dtype_size(context.program->tensors[operand.tensor].type) <= bytes ? once : again) += bytes;
  }
  return once > kMostly * again && once > static_cast<double>(context.target->l2_bytes);
}

double NestModel::vector_cost(int loop) const {
  const bool reduces = loop >= context.outputs();
  const int64_t most = std::clamp<int64_t>(extent(loop), 1, natural_lanes());
  const auto lanes = static_cast<double>(reduces ? lanes_along_row(loop) : most);
  double cost = operations() / lanes;
  for (const auto& operand : context.loops.operands) {
    const int64_t distance = operand.affine ? stride(operand, loop) : 2;
    const bool packable = operand.affine && output_reuse(operand) >= natural_lanes();
    if (distance <= 1 || packable)
      cost += 1 / lanes;
    else
      cost += distance <= costs::kMostShuffled ? std::min(2 * static_cast<double>(distance) / lanes, costs::kScalarMove)
                                               : costs::kScalarMove;
  }
  if (!reduces) return cost + (target_stride(loop) == 1 ? 1 / lanes : 1.0) / reduction_length();
  // What fills no vector takes one more, and lanes are added up at the end.
  const auto length = static_cast<double>(extent(loop));
  return cost * std::ceil(length / lanes) * lanes / length + costs::kFolds / reduction_length();
}

// What fills no vector is a pass of its own, over all other loops of the reduction again.
double NestModel::vectors_along_row(int loop, int lanes) const {
  // Chosen: with others, rows of 12 took 1.73 us in vectors of 8 and 1.28 of 4, of 24 3.38 of 16 and 1.73 of 8;
  // without, 183 rows of 24 by a vector 0.21 and 0.14 (two Zen 4 cores, 2026-11-28).
  constexpr double kOwnPass = 5, kOwnVector = 2.5;
  const int64_t length = extent(loop), vectors = length / lanes;
  const bool has_others = reduction_length() > static_cast<double>(length);
  const double rest = length % lanes == 0 ? 0 : has_others ? kOwnPass : kOwnVector;
  return static_cast<double>(vectors) + rest;
}

int NestModel::lanes_along_row(int loop) const {
  int lanes =
      static_cast<int>(std::bit_floor(static_cast<uint64_t>(std::clamp<int64_t>(extent(loop), 1, natural_lanes()))));
  constexpr double kClearly = 0.9;  // chosen
  for (int fewer = lanes / 2; fewer >= costs::kFewestLanes; fewer /= 2)
    if (vectors_along_row(loop, fewer) < kClearly * vectors_along_row(loop, lanes)) lanes = fewer;
  return lanes;
}

double NestModel::reduction_length() const {
  double length = 1;
  for (const int64_t extent : context.loops.reduction) length *= static_cast<double>(std::max<int64_t>(extent, 1));
  return length;
}

double NestModel::operations() const {
  return static_cast<double>(operations_of_iteration(context.program->statements[context.statement]));
}

int NestModel::best_vector_loop() const {
  int best = -1;
  // Scalar code: a load an operand, and a store.
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

int NestModel::best_row_loop(int vector_loop) const {
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

bool NestModel::walks_rows(int vector_loop, int row_loop) const {
  constexpr int64_t kShortest = 2;  // vectors; of shorter rows the accumulators at home are all the work
  const bool is_short = reduction_length() < costs::kManyRows;
  const int64_t cache = std::max(context.target->l2_bytes, is_short ? context.target->l3_bytes / 2 : 0);
  return row_loop < 0 && vector_loop >= 0 && vector_loop < context.outputs() &&
         (bytes_read() > static_cast<double>(cache) || reduction_length() < costs::kInFlight) &&
         extent(vector_loop) >= kShortest * natural_lanes() && !row_reductions(vector_loop).empty();
}

bool NestModel::taps_read_rows(int vector_loop) const {
  for (int r = 0; r < context.reductions(); ++r)
    for (const Operand& operand : context.loops.operands)
      if (!codegen::slides(context.loops, operand, r) || stride(operand, vector_loop) != 1 ||
          stride(operand, context.outputs() + r) < extent(vector_loop))
        return false;
  return true;
}

std::vector<int> NestModel::row_reductions(int vector_loop) const {
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

bool NestModel::leaves_pages(const Operand& operand, int vector_loop) const {
  std::vector<std::pair<int64_t, int64_t>> steps;  // and how often
  for (int r = 0; r < context.reductions(); ++r)
    steps.emplace_back(context.bytes_apart(operand, context.outputs() + r), context.loops.reduction[r]);
  std::sort(steps.begin(), steps.end());
  int64_t run = extent(vector_loop) * context.bytes_apart(operand, vector_loop);
  for (const auto& [step, count] : steps) {
    if (step > costs::kWayBytes && run < costs::kWayBytes) return true;
    if (step <= run) run = step * count;
  }
  return false;
}

int NestModel::lanes_of_adjacent_rows(int vector_loop) const {
  // Vector operations: sums of 512 columns, 64, took 0.69 of the time at home, of 752, 94, 1.04, of 1024, 128, 1.3.
  constexpr double kMost = 64;
  const int64_t row = extent(vector_loop);
  const auto follow_one_another = [&](const Operand& operand) {
    if (!operand.affine || stride(operand, vector_loop) != 1 ||
        context.bytes_apart(operand, vector_loop) * row >= costs::kWayBytes)
      return false;
    for (int r = 0; r < context.reductions(); ++r)
      if (stride(operand, context.outputs() + r) == row && context.loops.reduction[r] >= costs::kManyRows) return true;
    return false;
  };
  bool has_rows = false;
  for (const auto& operand : context.loops.operands) {
    if (operand.affine && stride(operand, vector_loop) == 0) continue;
    if (!follow_one_another(operand)) return 0;
    has_rows = true;
  }
  // What the second caches hold together gains nothing: 512 rows of 512, 1 MB, took 11 us at home, 12.7 so.
  const int64_t near = context.target->l2_bytes * context.target->threads;
  if (!has_rows || bytes_read() <= static_cast<double>(near)) return 0;
  const double body = static_cast<double>(row) * std::max(operations(), 1.0);
  for (int lanes = natural_lanes(); lanes >= costs::kFewestLanes; lanes /= 2)
    if (row % lanes == 0) return body <= kMost * lanes ? lanes : 0;
  return 0;
}

int64_t NestModel::tile_in_registers(int vector_loop, int64_t lanes) const {
  const int64_t vectors = (extent(vector_loop) + lanes - 1) / lanes,
                most = static_cast<int64_t>(context.target->vector_registers * costs::kRegistersForRows);
  const bool is_window = reduction_length() < costs::kManyRows;
  if (is_window && moves_in_steps(vector_loop)) return 0;
  for (const auto& operand : context.loops.operands)
    if (!is_window && leaves_pages(operand, vector_loop)) return 0;
  // Sums of few terms stay in registers, in as many pieces of the row as that takes: of 64 times 6 rows of 738 they
  // took 10.9 us at home in the first cache, 7.1 so (two Zen 4 cores with AVX-512, 2026-11-28).
  const bool takes_rows = taps_read_rows(vector_loop);
  const int64_t most_pieces = takes_rows || reduction_length() < costs::kInFlight ? vectors : 2;
  for (int64_t pieces = (vectors + most - 1) / most; pieces <= most_pieces; ++pieces) {
    const int64_t in_piece = (vectors + pieces - 1) / pieces;
    const bool is_short =
        !is_window || takes_rows || static_cast<double>(in_piece) * reduction_length() <= costs::kMostUnrolledByDefault;
    if (is_short && in_piece * lanes <= extent(vector_loop)) return in_piece * lanes;
  }
  return 0;
}

int64_t NestModel::row_piece(int vector_loop, int64_t lanes) const {
  const auto in_line = codegen::kLineBytes / static_cast<int64_t>(dtype_size(context.type));
  const bool in_cache = bytes_read() <= static_cast<double>(context.target->l3_bytes);
  if (moves_in_steps(vector_loop)) return lanes;
  int64_t piece = std::max(lanes, in_line * (in_cache ? 2 : 1));
  // What is computed again at the row's end may cost a quarter, chosen: lines gain more.
  const auto computed = [&](int64_t at_a_time) {
    return (extent(vector_loop) + at_a_time - 1) / at_a_time * at_a_time;
  };
  while (piece > lanes && (piece > extent(vector_loop) || 4 * computed(piece) > 5 * computed(piece / 2))) piece /= 2;
  for (int64_t fewer = piece; 2 * fewer > piece && extent(vector_loop) <= longest_at_home(lanes); fewer -= lanes)
    if (extent(vector_loop) % fewer == 0) return fewer;
  return piece;
}

int64_t NestModel::pieces_of_row(int64_t extent) const {
  const int64_t threads = context.target->threads, wanted = kPiecesPerThread * threads / 2;
  int64_t others = 1;
  for (const int64_t rows : context.loops.output) others *= std::max<int64_t>(rows, 1);
  if (!is_worth_threads(context, natural_lanes()) || others / extent >= wanted) return 1;
  return std::clamp<int64_t>(extent * static_cast<int64_t>(dtype_size(context.type)) / costs::kShortestStream, 1,
                             wanted);
}

int64_t NestModel::longest_at_home(int64_t lanes) const {
  return std::max(context.target->l1_bytes / 4 / static_cast<int64_t>(dtype_size(context.type)), lanes);
}

int64_t NestModel::row_tile(int64_t extent, int64_t lanes) const {
  const int64_t most = longest_at_home(lanes);
  for (int64_t pieces = pieces_of_row(extent);; ++pieces) {
    const int64_t tile = ((extent + pieces - 1) / pieces + lanes - 1) / lanes * lanes;
    if (tile <= std::min(extent, most) || tile == lanes) return tile;
  }
}

int NestModel::loop_of_more_sums(int vector_loop) const {
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

bool NestModel::moves_in_steps(int vector_loop) const {
  return std::any_of(context.loops.operands.begin(), context.loops.operands.end(),
                     [&](const Operand& operand) { return operand.affine && stride(operand, vector_loop) > 1; });
}

NestModel::Tile NestModel::register_tile(int64_t vector_extent, int64_t lanes, int64_t row_extent) const {
  Tile best;
  double lowest = HUGE_VAL;
  for (int64_t vectors = 1; vectors <= costs::kMostVectors && vectors * lanes <= vector_extent; ++vectors) {
    for (int64_t rows = 1; rows <= std::min(row_extent, costs::kMostRows); ++rows) {
      const int64_t accumulators = vectors * rows;
      if (accumulators + vectors + 1 > context.target->vector_registers) continue;
      const double loads = static_cast<double>(vectors + rows) / static_cast<double>(accumulators);
      const double latency = std::max(1.0, costs::kInFlight / static_cast<double>(accumulators));
      const double cost = repeated(vector_extent, vectors * lanes) * repeated(row_extent, rows) * (1 + loads) * latency;
      if (cost < lowest) {
        lowest = cost;
        best = {vectors, rows};
      }
    }
  }
  return best;
}

// Sums of 8192 columns over 32 rows took 15 us with 128 bytes of a row at a time, 7.0 with 256 and 5.8 with 384 (AVX2
// on two Zen 4 cores, 2026-11-28).
int64_t NestModel::vectors_across_pages(int vector_loop, int64_t lanes) const {
  if (operations_of_functions(*context.program->statements[context.statement].value) > 0) return 0;
  const double registers =
      costs::kRegistersForRows * context.target->vector_registers / (is_complex(context.type) ? 2 : 1);
  bool leaves = false;
  for (const Operand& operand : context.loops.operands) {
    if (!operand.affine || stride(operand, vector_loop) > 1) return 0;
    for (int r = 0; r < context.reductions(); ++r)
      leaves |= stride(operand, vector_loop) == 1 &&
                context.bytes_apart(operand, context.outputs() + r) >= costs::kWayBytes &&
                static_cast<double>(context.loops.reduction[r]) >= costs::kInFlight;
  }
  const int64_t vectors = extent(vector_loop) / lanes;
  const int64_t most =
      std::min(static_cast<int64_t>(registers), vectors / pieces_wanted(context, static_cast<int>(lanes)));
  if (!leaves || most < 1) return 0;
  int64_t best = most;
  for (int64_t some = most; 2 * some >= most; --some)
    if (repeated(extent(vector_loop), some * lanes) < repeated(extent(vector_loop), best * lanes)) best = some;
  return best;
}

NestModel::Tile NestModel::tile_of_sums(int64_t vector_extent, int64_t lanes, int64_t row_extent) {
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

double NestModel::repeated(int64_t extent, int64_t tile) {
  const int64_t computed = (extent + tile - 1) / tile * tile;
  return static_cast<double>(computed) / static_cast<double>(extent);
}

std::vector<int> loop_order(const NestModel& model, const NestSchedule& stage, int row_loop) {
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

int parallel_loops(const NestModel& model, const NestSchedule& stage) {
  const int threads = model.context.target->threads;
  if (!is_worth_threads(model.context, stage.cpu().lanes)) return 0;
  const double cycles = least_cycles(model.context, stage.cpu().lanes);
  int64_t pieces = 1;
  for (size_t i = 0; i < stage.order[0].size(); ++i) {
    const int64_t trips = trip_count(model.context.loops, stage, stage.order[0][i], 0);
    if (pieces >= kPiecesPerThread * threads / 2 && cycles / static_cast<double>(pieces * trips) < costs::kLeastPiece)
      return static_cast<int>(i);
    pieces *= trips;
    if (pieces >= kPiecesPerThread * threads) return static_cast<int>(i) + 1;
  }
  return static_cast<int>(stage.order[0].size());
}

}  // namespace tile_tune::search
