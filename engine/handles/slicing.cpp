#include "engine/handles/slicing.h"

#include <algorithm>
#include <map>

namespace tile_tune::engine {

SlicedCost cost_of(const OrderedNetwork& network, const plan::AxisSet& fixed) {
  const auto volume = [&](const plan::AxisSet& axes) {
    double elements = 1;
    for (const int axis : axes)
      if (!fixed.contains(axis)) elements *= network.extents[static_cast<size_t>(axis)];
    return elements;
  };
  std::map<int, int> uses;  // of an axis, by pieces that wait and the result
  for (const int axis : network.result) ++uses[axis];
  for (const auto& operand : network.operands)
    for (const int axis : operand) ++uses[axis];
  std::vector<plan::AxisSet> pieces = network.operands;
  std::vector<double> bytes(pieces.size(), 0);  // the operands are the caller's
  SlicedCost cost;
  double alive = 0;
  for (size_t step = 0; step < network.order.size(); ++step) {
    const auto& [left, right] = network.order[step];
    plan::AxisSet axes = pieces[static_cast<size_t>(left)];
    axes.insert(pieces[static_cast<size_t>(right)].begin(), pieces[static_cast<size_t>(right)].end());
    cost.flops += volume(axes);
    for (const int part : {left, right})
      for (const int axis : pieces[static_cast<size_t>(part)]) --uses[axis];
    std::erase_if(axes, [&](int axis) { return uses[axis] == 0; });
    for (const int axis : axes) ++uses[axis];
    const bool is_last = step + 1 == network.order.size();
    const double size = is_last ? 0 : volume(axes) * network.element_bytes;
    alive += size;
    cost.bytes = std::max(cost.bytes, alive);
    cost.all_bytes += size;
    alive -= bytes[static_cast<size_t>(left)] + bytes[static_cast<size_t>(right)];
    bytes.push_back(size);
    pieces.push_back(std::move(axes));
  }
  for (const int axis : fixed) cost.flops *= network.extents[static_cast<size_t>(axis)];
  return cost;
}

plan::AxisSet axes_to_fix(const OrderedNetwork& network, const plan::AxisSet& candidates, double limit) {
  plan::AxisSet fixed;
  SlicedCost now = cost_of(network, fixed);
  while (now.bytes > limit) {
    int best = -1;
    SlicedCost of_best;
    // What is doubled for half the memory is a fair price. Of two intermediates that are as large no axis may have
    // both.
    const auto price = [](const SlicedCost& cost) {
      return std::pair(cost.flops * cost.bytes, cost.flops * cost.all_bytes);
    };
    for (const int axis : candidates) {
      if (fixed.contains(axis) || network.extents[static_cast<size_t>(axis)] <= 1) continue;
      plan::AxisSet more = fixed;
      more.insert(axis);
      const SlicedCost cost = cost_of(network, more);
      if (cost.all_bytes >= now.all_bytes) continue;
      if (best < 0 || price(cost) < price(of_best)) best = axis, of_best = cost;
    }
    if (best < 0) break;
    fixed.insert(best);
    now = of_best;
  }
  return fixed;
}

}  // namespace tile_tune::engine
