#include "search/space/default_parallel.h"

#include <algorithm>

#include "codegen/schedule/masked_vector.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/lane_tile.h"
#include "search/space/moves.h"
#include "search/space/register_tile.h"
#include "search/space/term_size.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;

// The reduction loop whose steps are furthest apart in memory: each piece then reads memory of its own in order.
std::vector<int> outermost_first(const StageContext& context) {
  std::vector<std::pair<int64_t, int>> distances;
  for (int r = 0; r < context.reductions(); ++r) {
    int64_t distance = 0;
    for (const auto& operand : context.loops.operands)
      distance = std::max(distance, context.distance(operand, context.outputs() + r));
    distances.push_back({-distance, r});
  }
  std::sort(distances.begin(), distances.end());
  std::vector<int> result;
  for (const auto& entry : distances) result.push_back(entry.second);
  return result;
}

double elements(const codegen::Loops& loops) {
  double count = 1;
  for (const auto* extents : {&loops.output, &loops.reduction})
    for (const int64_t extent : *extents) count *= static_cast<double>(std::max<int64_t>(extent, 1));
  return count;
}

// The results of all pieces are written and read once more: an eighth of the work at most.
double most_pieces_by_work(const StageContext& context) {
  double outputs = 1;
  for (const int64_t extent : context.loops.output) outputs *= static_cast<double>(extent);
  return elements(context.loops) / 8 / outputs;
}

// Lines that are written are fetched before.
double bytes_moved(const StageContext& context) {
  double bytes = 2 * static_cast<double>(dtype_size(context.type));
  std::vector<int64_t> extents;
  for (const int64_t extent : context.loops.output) {
    extents.push_back(std::max<int64_t>(extent, 1));
    bytes *= static_cast<double>(extents.back());
  }
  for (const int64_t extent : context.loops.reduction) extents.push_back(std::max<int64_t>(extent, 1));
  for (const auto& operand : context.loops.operands)
    if (operand.affine) bytes += context.bytes(operand, extents);
  return bytes;
}

double cycles_of_operations(const StageContext& context, int lanes) {
  const bool gathers = std::any_of(context.loops.operands.begin(), context.loops.operands.end(),
                                   [](const codegen::Operand& operand) { return !operand.affine; });
  const auto& statement = context.program->statements[context.statement];
  const double parts = is_complex(context.type) ? 2 : 1;  // the product of two numbers is four of their parts
  return parts * parts * elements(context.loops) *
         static_cast<double>(std::max<int64_t>(operations_of_iteration(statement), 1)) / iterations_in_lane(context) /
         (gathers ? 1 : lanes);
}

double cycles_of_memory(const StageContext& context) {
  const double bytes = bytes_moved(context);
  return bytes / costs::bytes_a_cycle(*context.target, bytes);
}

// Where no loop has divisors for as many pieces as are usual, each thread has fewer. (1 x 6652 by 6652 x 320 took 104
// us on one thread and 53 on two; 6652 is 4 times a prime. AVX2 on two Zen 4 cores, 2026-11-28.)
std::optional<codegen::ParallelReduction> cut_for_threads(const StageContext& context, int lanes, double tiles) {
  for (int each = kPiecesPerThread; each >= 1; each /= 2) {
    if (each < kPiecesPerThread && tiles >= context.target->threads) break;
    for (const int r : outermost_first(context))
      if (const auto pieces = pieces_for_threads(context, lanes, tiles, r, each); pieces && *pieces > 1)
        return codegen::ParallelReduction{r, *pieces};
  }
  return std::nullopt;
}

// The first cut that leaves a near cache what a reduction's lanes read again. 7 x 2 x 23 sums of 12288 products, of 688
// and 1130 KB, took 139 us one by one, 48 in tiles of 4 x 2 x 3 of two pieces (two Zen 4 cores, 2026-11-28).
std::optional<codegen::ParallelReduction> cut_for_caches(const StageContext& context, const NestSchedule& stage) {
  const int in_lanes = stage.cpu().vector_loop - context.outputs(), threads = context.target->threads;
  if (in_lanes < 0 || !is_worth_threads(context, stage.cpu().lanes) || best_lane_tile(context)) return std::nullopt;
  for (const int r : outermost_first(context))
    for (const int pieces : piece_choices(context.loops.reduction[r])) {
      if (r == in_lanes || pieces < threads || pieces > most_pieces_by_work(context)) continue;
      StageContext of_piece = context;
      of_piece.loops.reduction[r] /= pieces;
      if (best_lane_tile(of_piece) && default_stage(of_piece).cpu().vector_loop == stage.cpu().vector_loop)
        return codegen::ParallelReduction{r, pieces};
    }
  return std::nullopt;
}

}  // namespace

double least_cycles(const StageContext& context, int lanes) {
  return std::max(cycles_of_operations(context, lanes), cycles_of_memory(context));
}

bool is_worth_threads(const StageContext& context, int lanes) {
  const bool moves_much = elements(context.loops) >= costs::kSerialMoves;
  return context.target->threads > 1 && (cycles_of_operations(context, lanes) >= costs::kSerialCycles ||
                                         (moves_much && cycles_of_memory(context) >= costs::kSerialCycles));
}

int64_t pieces_wanted(const StageContext& context, int lanes) {
  return is_worth_threads(context, lanes) ? kPiecesPerThread * context.target->threads : 1;
}

std::optional<int> pieces_for_threads(const StageContext& context, int lanes, double tiles, int r, int each) {
  const int threads = context.target->threads, fewest_tiles = kPiecesPerThread * threads / 2;
  if (!is_worth_threads(context, lanes)) return 1;
  if (tiles >= fewest_tiles) return std::nullopt;
  const double most = most_pieces_by_work(context);
  for (const int pieces : piece_choices(context.loops.reduction[r]))
    if (pieces * tiles >= each * threads && pieces <= most) return pieces;
  return std::nullopt;
}

void run_reduction_in_parallel(const StageContext& context, NestSchedule& stage) {
  double outputs = 1, tiles = 1;
  for (int p = 0; p < context.outputs(); ++p) {
    outputs *= static_cast<double>(context.loops.output[p]);
    tiles *= static_cast<double>(trip_count(context.loops, stage, p, 0));
  }
  if (outputs < 1 || keeps_order(context) || !context.loops.direct) return;
  auto cut = cut_for_threads(context, stage.cpu().lanes, tiles);
  if (!cut) cut = cut_for_caches(context, stage);
  if (!cut) return;
  const auto [r, pieces] = *cut;
  StageContext of_piece = context;
  of_piece.loops.reduction[r] /= pieces;
  // What walks rows in blocks does so in pieces as well: together these are as far away as the whole.
  const bool walks = stage.reduction_block[r] < context.loops.reduction[r];
  NestSchedule own = repair(of_piece, walks ? stage : default_stage(of_piece));
  // Rows a few at a time are worth more than pieces, where columns do for the threads. (Of a vector by 11992 x 2636,
  // whose rows are 8 times a prime, 5.9 ms in four pieces by two rows, 3.8 as halves of the columns by eight; two Zen 4
  // cores with AVX-512, 2026-11-28.)
  if (walks && 2 * own.reduction_block[r] < stage.reduction_block[r] && tiles >= context.target->threads) return;
  stage = std::move(own);
  stage.parallel_reduction = codegen::ParallelReduction{r, pieces};
  // Pieces enough are shared out alone: parallel loops inside each other cost their start again and again.
  if (pieces >= kPiecesPerThread * context.target->threads / 2) stage.cpu().parallel = 0;
}

void group_iterations(const StageContext& context, NestSchedule& stage) {
  const int count = stage.cpu().parallel;
  if (count < 1 || stage.parallel_reduction || stage.order.size() != 1 || !stage.packings.empty() ||
      !stage.prefetches.empty() || codegen::has_masked_vector(context.loops, stage))
    return;
  const std::vector<int> order = stage.order[0];
  const auto trips = [&](int p) { return trip_count(context.loops, stage, p, 0); };
  // The other loops go inside that of a group, whole.
  const auto is_whole = [&](int p) { return trips(p) == 1 || context.loops.output[p] % stage.tiles[p][0] == 0; };
  if (!std::all_of(order.begin() + count, order.end(), is_whole)) return;
  const int last = order[count - 1];
  int64_t iterations = 1;
  for (int i = 0; i < count; ++i) iterations *= trips(order[i]);
  const double cycles = least_cycles(context, stage.cpu().lanes);
  const auto groups = std::max(cycles / costs::kCyclesOfGroup, 2.0 * kPiecesPerThread * context.target->threads);
  const auto most = static_cast<int64_t>(static_cast<double>(iterations) / groups);
  // The last group is moved back, and computes some again: of sizes that repeat least, the largest.
  const int64_t tile = stage.tiles[last][0], extent = context.loops.output[last];
  const auto computed = [&](int64_t size) { return (trips(last) + size - 1) / size * size; };
  int64_t size = 1;
  for (int64_t one = std::max<int64_t>(most / 2, 2); one <= most && one * tile <= extent; ++one)
    if (size == 1 || computed(one) <= computed(size)) size = one;
  constexpr double kMostAgain = 1.02;  // chosen, far below what groups save
  if (size == 1 || static_cast<double>(computed(size)) > kMostAgain * static_cast<double>(trips(last))) return;
  stage.order.push_back(order);
  for (auto& tiles : stage.tiles) tiles.push_back(tiles.front());
  for (auto p = order.begin() + count; p != order.end(); ++p) stage.tiles[*p][0] = context.loops.output[*p];
  stage.tiles[last][0] *= size;
}

}  // namespace tile_tune::search
