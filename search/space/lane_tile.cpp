#include "search/space/lane_tile.h"

#include <algorithm>
#include <cmath>

#include "codegen/schedule/packed_form.h"
#include "codegen/target/costs.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::Operand;

struct Lanes {
  const StageContext& context;
  int loop;  // a reduction loop, counted after the output loops
  VectorWidth width;
  bool takes_dots = iterations_in_lane(context) > 1;
  std::vector<double> copy_costs{};  // by operand, for those that are copied

  int64_t stride(const Operand& operand, int p) const { return context.distance(operand, p); }
  int64_t extent(int p) const { return std::max<int64_t>(context.loops.output[p], 1); }
  int64_t reduction() const { return context.loops.reduction[loop - context.outputs()]; }

  DType type_of(const Operand& operand) const { return context.program->tensors[operand.tensor].type; }
  bool is_widened(const Operand& operand) const { return type_of(operand) != context.type; }

  // Of the loop that a vector takes: dot products in lanes are of pairs (codegen/schedule/dot_product.h).
  int64_t iterations_at_a_time() const { return int64_t{width.lanes} * (takes_dots ? 2 : 1); }

  // There are enough iterations, and all operands lie along the loop or can be made to.
  bool are_possible() const {
    const auto& operands = context.loops.operands;
    return reduction() >= iterations_at_a_time() &&
           std::all_of(operands.begin(), operands.end(), [&](const Operand& operand) {
             const bool suits = !is_widened(operand) || is_float(type_of(operand)) || takes_dots;
             return operand.affine && suits && stride(operand, loop) != 0 &&
                    (stride(operand, loop) == 1 || packing_dimension(context, operand, loop) >= 0);
           });
  }

  // What widening an operand costs a load: pairs of bf16 are taken as they are, bytes as 16 bits.
  double widening(const Operand& operand, const std::vector<int64_t>& tile) const {
    const bool is_done = type_of(operand) == DType::F16 ? is_copied_for_lanes(context, operand, loop, tile)
                                                        : takes_dots && dtype_size(type_of(operand)) == 2;
    return is_widened(operand) && !is_done ? costs::kWidening : 0;
  }

  double copy_cost(const Operand& operand) const {
    const bool is_free = codegen::is_packed_beforehand(*context.program, operand);
    return is_free ? 0 : whole_footprint(context, operand) * costs::copy_of_element(context.type);
  }

  // Of copies.
  double moves(const std::vector<int64_t>& tile) const {
    double moves = 0;
    for (size_t o = 0; o < copy_costs.size(); ++o)
      if (is_copied_for_lanes(context, context.loops.operands[o], loop, tile)) moves += copy_costs[o];
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
    if (!passing || bytes <= l1) return costs::kVectorLoad;
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
    double others = 1, trips = 1, loads = 0;
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
      loads += count * (load + widening(operand, tile));
    }
    const double step = step_time(static_cast<double>(accumulators), loads, width.share, costs::kInFlight);
    const int64_t at_a_time = iterations_at_a_time();
    const int64_t steps = (reduction() + at_a_time - 1) / at_a_time;  // what fills no vector takes one, too
    return trips * (others * static_cast<double>(steps) * step + fold_cost(accumulators) + costs::kInFlight);
  }

  // Rows along one loop alone are NestModel's, unless an operand has to be copied for them, which they all read. 91
  // sums of 16 x 49 products, the 16 neighbours of the one and the 49 of the other, took 39 us by vectors of other
  // sums, whose copies are larger, 3.8 so (two Zen 4 cores, 2026-11-28).
  bool shares_copy(int p) const {
    const auto& operands = context.loops.operands;
    return std::any_of(operands.begin(), operands.end(),
                       [&](const Operand& operand) { return stride(operand, loop) != 1 && stride(operand, p) == 0; });
  }

  // What an operand has for the innermost loop stays in registers while each of the outer ones passes: tiles of 13 x 2
  // ran in 331 us where 2 x 13, which spill, took 440 (two Zen 4 cores).
  bool fits_registers(const std::vector<int64_t>& tile, int innermost) const {
    int64_t sums = 1, held = 0;
    for (const int64_t rows : tile) sums *= rows;
    for (const auto& operand : context.loops.operands) {
      int64_t rows = 1;
      bool is_used_again = false;
      for (int p = 0; p < context.outputs(); ++p) {
        if (stride(operand, p) != 0) rows *= tile[p];
        is_used_again |= stride(operand, p) == 0 && tile[p] > 1;
      }
      if (is_used_again && stride(operand, innermost) != 0) held = std::max(held, rows);
    }
    return sums + held + 1 <= context.target->vector_registers;
  }

  std::optional<LaneTile> best() const {
    std::optional<LaneTile> best;
    std::vector<int64_t> tile(context.outputs(), 1);
    // Copies that are a small part of work in the first cache do not count. (80 x 64 by 64 x 4: 0.82 us by columns of
    // 4, 0.63 in lanes, whose estimate is 0.58 of that, a twelfth copies; one Zen 4 core with AVX-512, 2026-11-28.)
    constexpr double kFewCopies = 0.125;
    double bytes = 0;
    for (const auto& operand : context.loops.operands) bytes += bytes_of_batch(operand);
    const bool is_near = bytes <= static_cast<double>(context.target->l1_bytes);
    const auto consider = [&] {
      const auto load = load_of_near(tile);
      if (!load) return;
      const double copies = moves(tile), found = copies + cost(tile, *load);
      if (!best || found < best->tile.cost)
        best = LaneTile{{{loop, width.lanes, tile}, found, copies},
                        *load == costs::kVectorLoad && (copies == 0 || (is_near && copies < kFewCopies * found))};
    };
    const auto for_each_size = [&](int p, int64_t others, const auto& visit) {
      if (!is_shared(p)) return;
      const int64_t most = context.target->vector_registers / others;
      for (tile[p] = std::min({costs::kMostRows, extent(p), most}); tile[p] > 1; --tile[p]) visit();
      tile[p] = 1;
    };
    for (int a = context.outputs(); a-- > 0;)
      for_each_size(a, 1, [&] {
        if (shares_copy(a)) consider();
        for (int b = a; b-- > 0;)
          for_each_size(b, tile[a], [&] {
            if (fits_registers(tile, a)) consider();
            for (int c = b; c-- > 0;)
              for_each_size(c, tile[a] * tile[b], [&] {
                if (fits_registers(tile, a)) consider();
              });
          });
      });
    return best;
  }
};

}  // namespace

bool is_copied_for_lanes(const StageContext& context, const Operand& operand, int loop,
                         const std::vector<int64_t>& tile) {
  if (context.distance(operand, loop) != 1) return true;
  int64_t passes = 1;
  for (int p = 0; p < context.outputs(); ++p)
    if (context.distance(operand, p) == 0)
      passes *= (std::max<int64_t>(context.loops.output[p], 1) + tile[p] - 1) / tile[p];
  return context.program->tensors[operand.tensor].type == DType::F16 && passes >= costs::kPassesToPack;
}

std::optional<LaneTile> best_lane_tile(const StageContext& context) {
  // The parts of complex numbers lie between each other, and four sums have to be folded: not estimated here.
  if (keeps_order(context) || is_complex(context.type)) return std::nullopt;
  std::optional<LaneTile> best;
  for (int loop = context.outputs(); loop < context.loops.loop_count(); ++loop)
    for (const auto& width : vector_widths(*context.target, context.type)) {
      Lanes lanes{context, loop, width};
      if (!lanes.are_possible()) continue;
      for (const auto& operand : context.loops.operands) lanes.copy_costs.push_back(lanes.copy_cost(operand));
      if (const auto found = lanes.best(); found && (!best || found->tile.cost < best->tile.cost)) best = found;
    }
  return best;
}

}  // namespace tile_tune::search
