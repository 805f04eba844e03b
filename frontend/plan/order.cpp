#include "frontend/plan/order.h"

#include <algorithm>
#include <bit>
#include <map>

#include "frontend/plan/exact.h"
#include "frontend/plan/order_search.h"

namespace tile_tune::plan {
namespace {

AxisSet united(const AxisSet& a, const AxisSet& b) {
  AxisSet result = a;
  result.insert(b.begin(), b.end());
  return result;
}

AxisSet common(const AxisSet& a, const AxisSet& b) {
  AxisSet result;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(result, result.end()));
  return result;
}

AxisSet without(const AxisSet& a, const AxisSet& b) {
  AxisSet result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(result, result.end()));
  return result;
}

int emit(const auto& exact, size_t operands, unsigned set, Order& order) {
  if (std::has_single_bit(set)) return std::countr_zero(set);
  const auto [first, second] = exact.parts(set);
  const int left = emit(exact, operands, first, order), right = emit(exact, operands, second, order);
  order.emplace_back(left, right);
  return static_cast<int>(operands + order.size() - 1);
}

Order exact_order(const std::vector<AxisSet>& operands, const AxisSet& needed, const std::vector<double>& extents,
                  const Cost& cost) {
  Order order = left_to_right(operands.size());
  with_exact_order(operands, needed, extents, cost, [&](const auto& exact, const auto&) {
    order.clear();
    emit(exact, operands.size(), exact.all(), order);
  });
  return order;
}

/// Of what a step of the order leaves.
size_t most_dimensions(std::vector<AxisSet> pieces, const AxisSet& needed, const Order& order) {
  std::map<int, int> uses;
  for (const int axis : needed) ++uses[axis];
  for (const auto& piece : pieces)
    for (const int axis : piece) ++uses[axis];
  size_t most = 0;
  for (const auto& [left, right] : order) {
    AxisSet result = united(pieces[left], pieces[right]);
    for (const int part : {left, right})
      for (const int axis : pieces[part]) --uses[axis];
    std::erase_if(result, [&](int axis) { return uses[axis] == 0; });
    for (const int axis : result) ++uses[axis];
    most = std::max(most, result.size());
    pieces.push_back(std::move(result));
  }
  return most;
}

}  // namespace

Step contract(const AxisSet& left, const AxisSet& right, const AxisSet& needed) {
  Step step;
  const auto alone = [&](const AxisSet& mine, const AxisSet& other) {
    return without(other, mine).empty() ? AxisSet{} : without(without(mine, other), needed);
  };
  step.sum_left = alone(left, right);
  step.sum_right = alone(right, left);
  const AxisSet axes = united(without(left, step.sum_left), without(right, step.sum_right));
  step.result = common(axes, needed);
  step.summed = without(axes, needed);
  return step;
}

double flops_alone(double flops, double) { return flops; }

Order left_to_right(size_t operands) {
  Order order;
  for (size_t i = 1; i < operands; ++i)
    order.emplace_back(i == 1 ? 0 : static_cast<int>(operands + i - 2), static_cast<int>(i));
  return order;
}

Order best_order(const std::vector<AxisSet>& operands, const AxisSet& needed,
                 const std::optional<std::vector<double>>& extents, const Cost& cost) {
  if (!extents || operands.size() < 2) return left_to_right(operands.size());
  if (operands.size() <= kMaxExact) return exact_order(operands, needed, *extents, cost);
  // An empty sum costs nothing in any order, and neither do axes of one element, of which results may then have too
  // many.
  const auto search = [&](double least) {
    std::vector<double> costly = *extents;
    for (double& extent : costly) extent = std::max(extent, least);
    return searched_order(operands, needed, costly, cost, usual_effort(operands.size()));
  };
  Order order = search(1);
  return most_dimensions(operands, needed, order) <= kMaxDimensions ? order : search(2);
}

}  // namespace tile_tune::plan
