#include "search/space/default_parallel.h"

#include <algorithm>

#include "codegen/schedule/masked_vector.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/lane_tile.h"
#include "search/space/moves.h"
#include "search/space/nest_model.h"
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

// The results of all pieces are written and read once more: an eighth of the work at most.
double most_pieces_by_work(const StageContext& context) {
  double outputs = 1;
  for (const int64_t extent : context.loops.output) outputs *= static_cast<double>(extent);
  return NestModel{context}.iterations() / 8 / outputs;
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
  return parts * parts * NestModel{context}.iterations() *
         static_cast<double>(std::max<int64_t>(operations_of_iteration(statement), 1)) / iterations_in_lane(context) /
         (gathers ? 1 : lanes);
}

double cycles_of_memory(const StageContext& context) {
  const double bytes = bytes_moved(context);
  return bytes / costs::bytes_a_cycle(*context.target, bytes);
}

// Into how many pieces reduction loop r is cut, so that each thread takes turns with so many, and they leave nothing
// over if `evenly`.
std::optional<int> pieces_for_threads(const StageContext& context, int lanes, double tiles, int r, int each,
                                      bool evenly) {
  const int threads = context.target->threads, fewest_tiles = kPiecesPerThread * threads / 2;
  if (!is_worth_threads(context, lanes) || tiles >= fewest_tiles) return std::nullopt;
  const double most = most_pieces_by_work(context);
  for (const int pieces : evenly ? piece_choices(context.loops.reduction[r]) : uneven_piece_choices(context, r))
    if (pieces * tiles >= each * threads && pieces <= most) return pieces;
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

// Pages that an iteration of the first `count` loops of an order reads of an operand.
int64_t pages_of_copy(const StageContext& context, const codegen::Operand& operand, const std::vector<int>& order,
                      int count) {
  std::vector<int> loops(order.begin() + count, order.end());
  for (int r = 0; r < context.reductions(); ++r) loops.push_back(context.outputs() + r);
  int64_t pages = 1;
  for (const int loop : loops) {
    const int64_t apart = context.bytes_apart(operand, loop);
    const int64_t extent =
        loop < context.outputs() ? context.loops.output[loop] : context.loops.reduction[loop - context.outputs()];
    if (apart >= codegen::kLineBytes)
      pages *= round_up(extent * std::min(apart, costs::kWayBytes), costs::kWayBytes) / costs::kWayBytes;
  }
  return pages;
}

}  // namespace

double least_cycles(const StageContext& context, int lanes) {
  return std::max(cycles_of_operations(context, lanes), cycles_of_memory(context));
}

bool is_worth_threads(const StageContext& context, int lanes) {
  const bool moves_much = NestModel{context}.iterations() >= costs::kSerialMoves;
  return context.target->threads > 1 && (cycles_of_operations(context, lanes) >= costs::kSerialCycles ||
                                         (moves_much && cycles_of_memory(context) >= costs::kSerialCycles));
}

int64_t pieces_wanted(const StageContext& context, int lanes) {
  return is_worth_threads(context, lanes) ? kPiecesPerThread * context.target->threads : 1;
}

// Where no loop can be cut into as many pieces as are usual, each thread has fewer. (1 x 6652 by 6652 x 320 took 104
// us on one thread and 53 on two; 6652 is 4 times a prime. AVX2 on two Zen 4 cores, 2026-11-28.)
// Sums of 74 rows of 1024 took 2.3 us as halves, 3.1 in eight pieces that leave two rows over (2026-11-29).
std::optional<codegen::ParallelReduction> cut_for_threads(const StageContext& context, int lanes, double tiles) {
  for (const bool evenly : {true, false})
    for (int each = kPiecesPerThread; each >= 1; each /= 2) {
      if (tiles >= context.target->threads && !(evenly && each == kPiecesPerThread)) return std::nullopt;
      for (const int r : outermost_first(context))
        if (const auto pieces = pieces_for_threads(context, lanes, tiles, r, each, evenly))
          return codegen::ParallelReduction{r, *pieces};
    }
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
  // What walks rows, in blocks or whole ones, does so in pieces as well: together these are as far away as the whole.
  const bool walks = stage.reduction_block[r] < context.loops.reduction[r];
  const NestModel model{context};
  const int v = stage.cpu().vector_loop;
  const bool has_whole_rows = v >= 0 && v < context.outputs() && stage.tiles[v].back() == context.loops.output[v] &&
                              model.walks_rows(v, model.best_row_loop(v)) && model.lanes_of_adjacent_rows(v) > 0;
  const int64_t divisor = largest_divisor_up_to(of_piece.loops.reduction[r], stage.reduction_block[r]);
  // Where columns do for the threads they are worth more than pieces that blocks of rows do not divide. (Of a vector by
  // 11992 x 2636, whose rows are 8 times a prime, 5.9 ms in four pieces by two rows, 3.8 as halves of the columns by
  // eight; two Zen 4 cores with AVX-512, 2026-11-28. In pieces whose last blocks are shorter three products took 1.04
  // to 1.16 times as long as in halves; AVX2, 2026-11-29.)
  if (walks && 2 * divisor < stage.reduction_block[r] && tiles >= context.target->threads) return;
  stage = repair(of_piece, walks || has_whole_rows ? stage : default_stage(of_piece));
  stage.parallel_reduction = codegen::ParallelReduction{r, pieces};
  // Pieces enough are shared out alone: parallel loops inside each other cost their start again and again.
  if (pieces >= kPiecesPerThread * context.target->threads / 2) stage.cpu().parallel = 0;
}

void group_iterations(const StageContext& context, NestSchedule& stage) {
  const int count = stage.cpu().parallel;
  const bool copies_otherwise = std::any_of(stage.packings.begin(), stage.packings.end(),
                                            [&](const codegen::Packing& copy) { return copy.depth != count; });
  if (count < 1 || stage.parallel_reduction || stage.order.size() != 1 || copies_otherwise ||
      !stage.prefetches.empty() || codegen::has_masked_vector(context.loops, stage))
    return;
  const std::vector<int> order = stage.order[0];
  const auto trips = [&](int p) { return trip_count(context.loops, stage, p, 0); };
  // The other loops go inside that of a group, whole; those that tiles do not divide stay around it, which is worth it
  // where calling an iteration takes as long as itself: 128 rows of 1008 by 3 taps in pairs took 7.9 us, 6.7 one by one
  // (AVX2 on two Zen 4 cores, 2026-11-29).
  const auto is_whole = [&](int p) { return trips(p) == 1 || context.loops.output[p] % stage.tiles[p][0] == 0; };
  const int last = order[count - 1];
  int64_t iterations = 1;
  for (int i = 0; i < count; ++i) iterations *= trips(order[i]);
  const double cycles = least_cycles(context, stage.cpu().lanes);
  const bool all_whole = std::all_of(order.begin() + count, order.end(), is_whole);
  if (!all_whole && cycles / static_cast<double>(iterations) >= costs::kLeastPiece) return;
  const auto groups = std::max(cycles / costs::kCyclesOfGroup, 2.0 * kPiecesPerThread * context.target->threads);
  const auto most = static_cast<int64_t>(static_cast<double>(iterations) / groups);
  // The last group is moved back, and computes some again: of sizes that repeat least, the largest.
  const int64_t tile = stage.tiles[last][0], extent = context.loops.output[last];
  int64_t size = 1;
  for (int64_t one = std::max<int64_t>(most / 2, 2); one <= most && one * tile <= extent; ++one)
    if (size == 1 || round_up(trips(last), one) <= round_up(trips(last), size)) size = one;
  constexpr double kMostAgain = 1.02;  // chosen, far below what groups save
  if (size == 1 || static_cast<double>(round_up(trips(last), size)) > kMostAgain * static_cast<double>(trips(last)))
    return;
  stage.order.push_back(order);
  for (auto& tiles : stage.tiles) tiles.push_back(tiles.front());
  for (auto p = order.begin() + count; p != order.end(); ++p)
    if (is_whole(*p)) stage.tiles[*p][0] = context.loops.output[*p];
  // An iteration's copies stay its own, but where loops stay around it or where they come from more pages than the
  // first TLB has: of 464 batches of 3 x 16 by (32 x 3)^T, groups of 58 took 11.7 us so, 18 with a copy for all of a
  // group, 13 without groups; of 292 of 4 x 2 by (176 x 2)^T 23, 9.1 and 22 (AVX2 on two Zen 4 cores, 2026-11-29).
  for (auto& copy : stage.packings)
    if (all_whole && pages_of_copy(context, context.loops.operands[copy.operand], order, count) <= costs::kPagesAtOnce)
      copy.depth += context.outputs();
  stage.tiles[last][0] *= size;
}

}  // namespace tile_tune::search
