#include "search/space/lane_tile.h"
#include "codegen/target/costs.h"

#include <algorithm>
#include <cmath>

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::Operand;

struct Lanes {
  const StageContext& context;
  int loop;  // a reduction loop, counted after the output loops
  VectorWidth width;

  int64_t stride(const Operand& operand, int p) const { return context.distance(operand, p); }
  int64_t extent(int p) const { return std::max<int64_t>(context.loops.output[p], 1); }
  int64_t reduction() const { return context.loops.reduction[loop - context.outputs()]; }

  // As they are: halves and bytes have instructions of their own, or are widened in a copy.
  bool runs_along_all() const {
    return std::all_of(context.loops.operands.begin(), context.loops.operands.end(), [&](const Operand& operand) {
      return operand.affine && stride(operand, loop) == 1 &&
             context.program->tensors[operand.tensor].type == context.type;
    });
  }

  // Some operand stays put along it, another does not.
  bool is_shared(int p) const {
    const auto stays = [&](const Operand& operand) { return stride(operand, p) == 0; };
    const auto& operands = context.loops.operands;
    return std::any_of(operands.begin(), operands.end(), stays) &&
           !std::all_of(operands.begin(), operands.end(), stays);
  }

  double bytes_of_batch(const Operand& operand) const {
    std::vector<int64_t> extents(context.loops.loop_count(), 1);
    for (int p = 0; p < context.outputs(); ++p)
      if (is_shared(p)) extents[p] = extent(p);
    for (int r = 0; r < context.reductions(); ++r)
      extents[context.outputs() + r] = std::max<int64_t>(context.loops.reduction[r], 1);
    return context.bytes(operand, extents);
  }

  // All that one batch reads stays in the first cache, or all but one operand, which passes by once since a tile is as
  // wide as the others. 253 x 344 by (5 x 344)^T of f64: 10 us in tiles of 5 x 5, 21 in rows of one (two Zen 4 cores).
  bool stays_near(const std::vector<int64_t>& tile) const {
    double bytes = 0;
    const Operand* largest = nullptr;
    for (const auto& operand : context.loops.operands) {
      bytes += bytes_of_batch(operand);
      if (!largest || bytes_of_batch(operand) > bytes_of_batch(*largest)) largest = &operand;
    }
    const auto l1 = static_cast<double>(context.target->l1_bytes);
    if (bytes <= l1) return true;
    if (bytes - bytes_of_batch(*largest) > l1 / 2) return false;
    for (int p = 0; p < context.outputs(); ++p)
      if (is_shared(p) && stride(*largest, p) == 0 && tile[p] < extent(p)) return false;
    return true;
  }

  // Halves of vectors are shuffled together and added, ever more elements in one (codegen/lower/folds.h); then a
  // store of its own for each.
  double fold_cost(int64_t accumulators) const {
    double operations = 0;
    for (int lanes = width.lanes / 2; lanes >= 1; lanes /= 2)
      operations += 3 * std::ceil(static_cast<double>(accumulators * lanes) / width.lanes);
    return (operations + static_cast<double>(accumulators)) * width.share;
  }

  double cost(const std::vector<int64_t>& tile) const {
    double others = 1, trips = 1, vectors = 0;
    int64_t accumulators = 1;
    for (int r = 0; r < context.reductions(); ++r)
      if (r != loop - context.outputs())
        others *= static_cast<double>(std::max<int64_t>(context.loops.reduction[r], 1));
    for (int p = 0; p < context.outputs(); ++p) {
      accumulators *= tile[p];
      trips *= std::ceil(static_cast<double>(extent(p)) / static_cast<double>(tile[p]));
    }
    for (const auto& operand : context.loops.operands) {
      double count = 1;
      for (int p = 0; p < context.outputs(); ++p)
        if (stride(operand, p) != 0) count *= static_cast<double>(tile[p]);
      vectors += count;
    }
    const double step = step_time(static_cast<double>(accumulators), vectors, width.share);
    const int64_t steps = (reduction() + width.lanes - 1) / width.lanes;  // what fills no vector takes one, too
    return trips * (others * static_cast<double>(steps) * step + fold_cost(accumulators) + costs::kInFlight);
  }

  std::optional<RegisterTile> best() const {
    std::optional<RegisterTile> best;
    std::vector<int64_t> tile(context.outputs(), 1);
    for (int a = context.outputs(); a-- > 0;)
      for (int b = a; b-- > 0;) {
        if (!is_shared(a) || !is_shared(b)) continue;
        for (tile[a] = std::min(costs::kMostRows, extent(a)); tile[a] > 1; --tile[a])
          for (tile[b] = std::min(costs::kMostRows, extent(b)); tile[b] > 1; --tile[b]) {
            // Those of the inner loop stay in registers while each of the outer one passes: tiles of 13 x 2 ran in
            // 331 us where 2 x 13, which spill, took 440.
            if (tile[a] * tile[b] + tile[a] + 1 > context.target->vector_registers || !stays_near(tile)) continue;
            if (const double found = cost(tile); !best || found < best->cost)
              best = RegisterTile{loop, width.lanes, tile, found};
          }
        tile[a] = tile[b] = 1;
      }
    return best;
  }
};

}  // namespace

std::optional<RegisterTile> best_lane_tile(const StageContext& context) {
  if (keeps_order(context)) return std::nullopt;
  std::optional<RegisterTile> best;
  for (int loop = context.outputs(); loop < context.loops.loop_count(); ++loop)
    for (const auto& width : vector_widths(*context.target, context.type)) {
      const Lanes lanes{context, loop, width};
      if (lanes.reduction() < width.lanes || !lanes.runs_along_all()) continue;
      if (const auto found = lanes.best(); found && (!best || found->cost < best->cost)) best = found;
    }
  return best;
}

}  // namespace tile_tune::search
