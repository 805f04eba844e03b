#include "frontend/plan/order.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>

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

Order left_to_right(size_t count) {
  Order order;
  for (size_t i = 1; i < count; ++i)
    order.emplace_back(i == 1 ? 0 : static_cast<int>(count + i - 2), static_cast<int>(i));
  return order;
}

// Sets of operands are bit masks; every set's best way to become one tensor is found from its parts'.
class Exhaustive {
 public:
  Exhaustive(const std::vector<AxisSet>& operands, const AxisSet& needed, const std::vector<double>& extents,
             const Cost& cost)
      : operands_(operands), needed_(needed), extents_(extents), cost_(cost), best_(size_t{1} << operands.size()) {}

  Order order() {
    const auto all = static_cast<unsigned>(best_.size() - 1);
    for (unsigned set = 1; set <= all; ++set) {
      best_[set].axes = std::has_single_bit(set) ? operands_[static_cast<size_t>(std::countr_zero(set))] : open(set);
      if (!std::has_single_bit(set)) find_split(set);
    }
    Order order;
    emit(all, order);
    return order;
  }

 private:
  struct Best {
    AxisSet axes;
    double cost = 0;
    double elements = 0;  // of its own and of what it is made from, operands aside
    int apart = 0;        // steps to it that sum nothing, the last operand not among what they multiply
    unsigned right = 0;   // the part without the first operand
  };

  // Axes of the set that are used outside of it.
  AxisSet open(unsigned set) const {
    AxisSet inside, outside = needed_;
    for (size_t i = 0; i < operands_.size(); ++i) {
      auto& side = set >> i & 1 ? inside : outside;
      side.insert(operands_[i].begin(), operands_[i].end());
    }
    return common(inside, outside);
  }

  double volume(const AxisSet& axes) const {
    double product = 1;
    for (const int axis : axes) product *= extents_[static_cast<size_t>(axis)];
    return product;
  }

  double flops(const AxisSet& left, const AxisSet& right, const Step& step) const {
    double sum = volume(united(step.result, step.summed)) * (step.summed.empty() ? 1 : 2);
    if (!step.sum_left.empty()) sum += volume(left);
    if (!step.sum_right.empty()) sum += volume(right);
    return sum;
  }

  void find_split(unsigned set) {
    Best& best = best_[set];
    best.cost = best.elements = std::numeric_limits<double>::infinity();
    const unsigned rest = set & (set - 1);  // the first operand stays on the left
    // Descending: of equally good splits the one that takes the last operand last.
    std::vector<unsigned> parts;
    for (unsigned right = rest; right > 0; right = (right - 1) & rest) parts.push_back(right);
    std::stable_sort(parts.begin(), parts.end(),
                     [](unsigned a, unsigned b) { return std::popcount(a) < std::popcount(b); });
    for (const unsigned right : parts) {
      const Best &l = best_[set ^ right], &r = best_[right];
      const Step step = contract(l.axes, r.axes, best.axes);
      const bool has_last = set >> (operands_.size() - 1) & 1;
      const double left_behind = volume(best.axes);
      const double cost = l.cost + r.cost + cost_(flops(l.axes, r.axes, step), left_behind);
      const double elements = l.elements + r.elements + left_behind;
      const int apart = l.apart + r.apart + (step.summed.empty() && !has_last ? 1 : 0);
      if (best.right != 0 && !(std::tuple(cost, elements, apart) < std::tuple(best.cost, best.elements, best.apart)))
        continue;
      best.cost = cost;
      best.elements = elements;
      best.apart = apart;
      best.right = right;
    }
  }

  int emit(unsigned set, Order& order) const {
    if (std::has_single_bit(set)) return std::countr_zero(set);
    const int left = emit(set ^ best_[set].right, order), right = emit(best_[set].right, order);
    order.emplace_back(left, right);
    return static_cast<int>(operands_.size() + order.size() - 1);
  }

  const std::vector<AxisSet>& operands_;
  const AxisSet& needed_;
  const std::vector<double>& extents_;
  const Cost& cost_;
  std::vector<Best> best_;
};

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

Order best_order(const std::vector<AxisSet>& operands, const AxisSet& needed,
                 const std::optional<std::vector<double>>& extents, const Cost& cost) {
  if (!extents || operands.size() > kMaxExhaustive) return left_to_right(operands.size());
  return Exhaustive(operands, needed, *extents, cost).order();
}

}  // namespace tile_tune::plan
