#include "search/space/default_parallel.h"

#include <algorithm>

#include "codegen/target/costs.h"
#include "search/space/choices.h"
#include "search/space/moves.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

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

}  // namespace

void run_reduction_in_parallel(const StageContext& context, codegen::NestSchedule& stage) {
  const int threads = context.target->threads;
  double outputs = 1, tiles = 1;
  for (int p = 0; p < context.outputs(); ++p) {
    outputs *= static_cast<double>(context.loops.output[p]);
    tiles *= static_cast<double>(trip_count(context.loops, stage, p, 0));
  }
  double work = outputs;
  for (const int64_t extent : context.loops.reduction) work *= static_cast<double>(extent);
  if (keeps_order(context) || threads <= 1 || !context.loops.direct || work < costs::kSerialWork ||
      tiles >= kPiecesPerThread * threads / 2)
    return;
  for (const int r : outermost_first(context)) {
    for (const int pieces : piece_choices(context.loops.reduction[r])) {
      // The results of all pieces are written and read once more: an eighth of the work at most.
      if (pieces * tiles < kPiecesPerThread * threads || pieces * outputs > work / 8) continue;
      StageContext of_piece = context;
      of_piece.loops.reduction[r] /= pieces;
      stage = repair(of_piece, default_stage(of_piece));
      stage.parallel_reduction = codegen::ParallelReduction{r, pieces};
      // Pieces enough are shared out alone: parallel loops inside each other cost their start again and again.
      if (pieces >= kPiecesPerThread * threads / 2) stage.cpu().parallel = 0;
      return;
    }
  }
}

}  // namespace tile_tune::search
