#include "search/space/window_taps.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "codegen/target/costs.h"

namespace tile_tune::search {

using codegen::Operand;
namespace costs = codegen::costs;

double share_of_overlap(const StageContext& context, const Operand& operand, int r, int p, int64_t rows) {
  const int64_t taps = std::max<int64_t>(context.loops.reduction[r], 1);
  std::optional<int64_t> apart;  // rows, in taps
  for (const ir::Subscript& subscript : operand.subscripts) {
    const auto* affine = std::get_if<ir::AffineExpr>(&subscript);
    if (!affine) return 1;
    const int64_t step = affine->coefficient(context.loops.output_index[p]),
                  tap = affine->coefficient(context.loops.reduction_index[r]);
    if (step == 0 && tap == 0) continue;
    if (step == 0 || tap == 0 || step % tap != 0 || (apart && apart != step / tap)) return 1;
    apart = step / tap;
  }
  if (!apart) return 1;
  const int64_t new_taps = std::min(std::abs(*apart), taps);
  return static_cast<double>((rows - 1) * new_taps + taps) / static_cast<double>(rows * taps);
}

double share_of_rows(const StageContext& context, const Operand& operand, int r, const TileShape& tile) {
  double share = 1;
  for (int p = 0; p < context.outputs(); ++p)
    if (p != tile.vector_loop) share *= share_of_overlap(context, operand, r, p, tile.sizes[p]);
  return share;
}

std::vector<int> window_loops(const StageContext& context, int vector_loop) {
  const auto& operands = context.loops.operands;
  std::vector<int> result;
  for (int r = 0; r < context.reductions(); ++r)
    if (std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
          return operand.affine && context.distance(operand, vector_loop) != 0 &&
                 codegen::slides(context.loops, operand, r);
        }))
      result.push_back(r);
  return result;
}

std::vector<int> unrolled_windows(const StageContext& context, const std::vector<int>& windows, const TileShape& tile) {
  const auto extent = [&](int r) { return std::max<int64_t>(context.loops.reduction[r], 1); };
  const int64_t body = tile.pieces();
  int64_t taps = 1, loads = 0;
  for (const int r : windows) taps *= extent(r);
  if (body * taps <= costs::kMostUnrolledTaps) return windows;
  for (const Operand& operand : context.loops.operands) loads += pieces_of(context, operand, tile);
  if (loads < body) return {};  // which arithmetic hides
  std::vector<int> best;
  double least = 1;
  for (const int r : windows) {
    if (body * extent(r) > costs::kMostUnrolledTaps) continue;
    for (const Operand& operand : context.loops.operands) {
      if (!operand.affine || context.distance(operand, tile.vector_loop) == 0) continue;
      const double share = share_of_rows(context, operand, r, tile);
      if (share >= least) continue;
      least = share;
      best = {r};
    }
  }
  return best;
}

}  // namespace tile_tune::search
