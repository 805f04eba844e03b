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

  // Of copying what does not lie along the loop; nullopt where an operand cannot be made to. Halves and bytes have
  // instructions of their own, or are widened in a copy.
  std::optional<double> moves() const {
    double moves = 0;
    for (const auto& operand : context.loops.operands) {
      if (!operand.affine || context.program->tensors[operand.tensor].type != context.type) return std::nullopt;
      const int64_t distance = stride(operand, loop);
      if (distance == 1) continue;
      if (distance == 0 || packing_dimension(context, operand, loop) < 0) return std::nullopt;
      moves += whole_footprint(context, operand) * costs::kTransposedMove;
    }
    return moves;
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

  // What loading a vector of what one batch reads again costs; nullopt where no near cache keeps that. All that the
  // batch reads stays in the first cache, or all but one operand, which passes by once since a tile is as wide as the
  // others; these may lie in the second cache, too. 253 x 344 by (5 x 344)^T of f64: 10 us in tiles of 5 x 5, 21 in
  // rows of one (two Zen 4 cores).
  std::optional<double> load_of_near(const std::vector<int64_t>& tile) const {
    double bytes = 0, largest = 0;
    const Operand* passing = nullptr;
    for (const auto& operand : context.loops.operands) {
      bytes += bytes_of_batch(operand);
      if (passing && bytes_of_batch(operand) <= largest) continue;
      passing = &operand;
      largest = bytes_of_batch(operand);
    }
    const auto l1 = static_cast<double>(context.target->l1_bytes), l2 = static_cast<double>(context.target->l2_bytes);
    if (bytes <= l1) return costs::kVectorLoad;
    for (int p = 0; p < context.outputs(); ++p)
      if (is_shared(p) && stride(*passing, p) == 0 && tile[p] < extent(p)) return std::nullopt;
    if (bytes - largest <= l1 / 2) return costs::kVectorLoad;
    if (bytes - largest <= l2 / 2) return costs::kLoadFromSecondCache;
    return std::nullopt;
  }

  // Halves of vectors are shuffled together and added, ever more elements in one (codegen/lower/folds.h); then a
  // store of its own for each.
  double fold_cost(int64_t accumulators) const {
    double operations = 0;
    for (int lanes = width.lanes / 2; lanes >= 1; lanes /= 2)
      operations += 3 * std::ceil(static_cast<double>(accumulators * lanes) / width.lanes);
    return (operations + static_cast<double>(accumulators)) * width.share;
  }

  double cost(const std::vector<int64_t>& tile, double load) const {
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
    const double step = step_time(static_cast<double>(accumulators), vectors * load, width.share);
    const int64_t steps = (reduction() + width.lanes - 1) / width.lanes;  // what fills no vector takes one, too
    return trips * (others * static_cast<double>(steps) * step + fold_cost(accumulators) + costs::kInFlight);
  }

  std::optional<LaneTile> best(double moves) const {
    std::optional<LaneTile> best;
    std::vector<int64_t> tile(context.outputs(), 1);
    for (int a = context.outputs(); a-- > 0;)
      for (int b = a; b-- > 0;) {
        if (!is_shared(a) || !is_shared(b)) continue;
        for (tile[a] = std::min(costs::kMostRows, extent(a)); tile[a] > 1; --tile[a])
          for (tile[b] = std::min(costs::kMostRows, extent(b)); tile[b] > 1; --tile[b]) {
            // Those of the inner loop stay in registers while each of the outer one passes: tiles of 13 x 2 ran in
            // 331 us where 2 x 13, which spill, took 440.
            if (tile[a] * tile[b] + tile[a] + 1 > context.target->vector_registers) continue;
            const auto load = load_of_near(tile);
            if (!load) continue;
            if (const double found = moves + cost(tile, *load); !best || found < best->tile.cost)
              best = LaneTile{{loop, width.lanes, tile, found, moves}, moves == 0 && *load == costs::kVectorLoad};
          }
        tile[a] = tile[b] = 1;
      }
    return best;
  }
};

}  // namespace

std::optional<LaneTile> best_lane_tile(const StageContext& context) {
  if (keeps_order(context)) return std::nullopt;
  std::optional<LaneTile> best;
  for (int loop = context.outputs(); loop < context.loops.loop_count(); ++loop)
    for (const auto& width : vector_widths(*context.target, context.type)) {
      const Lanes lanes{context, loop, width};
      const auto moves = lanes.moves();
      if (lanes.reduction() < width.lanes || !moves) continue;
      if (const auto found = lanes.best(*moves); found && (!best || found->tile.cost < best->tile.cost)) best = found;
    }
  return best;
}

}  // namespace tile_tune::search
