#include "search/space/own_copies.h"

#include <algorithm>

#include "codegen/schedule/masked_vector.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/default_parallel.h"
#include "search/space/nest_model.h"
#include "search/space/register_tile.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::NestSchedule;
using codegen::Packing;

// How much longer than evenly shared out work takes with so many pieces, which threads take turns with.
double idle(int64_t pieces, int64_t threads) {
  const int64_t rounds = (pieces + threads - 1) / threads;
  return static_cast<double>(rounds * threads) / static_cast<double>(pieces);
}

// Bytes of what is copied before all, though each call anew; 0 if something is copied elsewhere, or read otherwise by
// another iteration of the loop.
double bytes_copied_before(const StageContext& context, const NestSchedule& stage, int loop) {
  double bytes = 0;
  for (const Packing& copy : stage.packings) {
    const auto& operand = context.loops.operands[copy.operand];
    if (codegen::is_packed_beforehand(*context.program, operand)) continue;
    if (copy.depth != 0 || context.distance(operand, loop) != 0) return 0;
    bytes += whole_footprint(context, operand) * static_cast<double>(dtype_size(context.type));
  }
  return bytes;
}

// Lines that one core wrote come to another slowly, and so does the counter that threads take their turns from, which
// shows where there is little work, or many such lines. Of 110 drawn products, convolutions and contractions 14 of less
// than 3 x 10^5 terms were 1.32 times as fast on average, 24 up to 10^6 1.23, 18 up to 3 x 10^6 1.14, but 30 beyond
// 10^7 0.94. This takes 145 of 4,395, of which 130 were 0.74 to 2.01 times as fast, 1.20 on average; with AVX2 fifty
// that an earlier form took 0.74 to 1.88, 1.15 (two Emerald Rapids cores, 2026-12-01).
bool pays(const StageContext& context, const NestSchedule& stage, double bytes) {
  constexpr double kLineOfOtherCore = 45;             // cycles, 15 ns: in eight products of 14 to 512 KB 4 to 30
  constexpr double kShowing = 0.05, kFewTerms = 1e6;  // chosen
  const double work = least_cycles(context, stage.cpu().lanes) / context.target->threads;
  return NestModel{context}.iterations() < kFewTerms ||
         bytes / codegen::kLineBytes * kLineOfOtherCore > kShowing * work;
}

}  // namespace

void copy_for_each_thread(const StageContext& context, NestSchedule& stage) {
  constexpr double kSlightly = 1.05;  // longer for threads without a piece; chosen
  const int64_t threads = context.target->threads;
  if (stage.cpu().parallel < 1 || stage.parallel_reduction || !stage.prefetches.empty() || stage.order.size() != 1 ||
      codegen::has_masked_vector(context.loops, stage))
    return;
  std::vector<int> order = stage.order.front();
  const auto trips = [&](int p) { return trip_count(context.loops, stage, p, 0); };
  const auto first = std::find_if(order.begin(), order.end(), [&](int p) { return trips(p) > 1; });
  if (first - order.begin() >= stage.cpu().parallel) return;
  const int loop = *first;
  int64_t pieces = 1;
  for (int i = 0; i < stage.cpu().parallel; ++i) pieces *= trips(order[i]);
  const bool is_whole = std::all_of(order.begin(), order.end(), [&](int p) {
    return p == loop || context.loops.output[p] % stage.tiles[p].front() == 0;
  });
  const double bytes = bytes_copied_before(context, stage, loop);
  if (!is_whole || bytes == 0 || bytes > static_cast<double>(context.target->l2_bytes) / 4 || trips(loop) < threads ||
      idle(trips(loop), threads) > kSlightly * idle(pieces, threads) || !pays(context, stage, bytes))
    return;
  for (Packing& copy : stage.packings)
    if (!codegen::is_packed_beforehand(*context.program, context.loops.operands[copy.operand])) copy.depth = 1;
  for (int p = 0; p < context.outputs(); ++p) {
    auto& tiles = stage.tiles[p];
    const int64_t block = p == loop ? (trips(p) + threads - 1) / threads * tiles.front() : context.loops.output[p];
    tiles.insert(tiles.begin(), block);
  }
  std::rotate(order.begin(), first, first + 1);
  stage.order.insert(stage.order.begin(), order);
  stage.cpu().parallel = 1;
}

}  // namespace tile_tune::search
