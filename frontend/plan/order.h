// The order in which operands are contracted pairwise, where parentheses leave it open.
//
// Which order is best the caller says, by a cost for each step.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tile_tune::plan {

using AxisSet = std::set<int>;

/// What is left of two operands once they are contracted, and what of each is summed beforehand: what it alone has and
/// nothing needs, if the step would otherwise repeat that sum for axes only the other has.
struct Step {
  AxisSet sum_left, sum_right;
  AxisSet result;  // needed afterwards
  AxisSet summed;  // within the step
};
Step contract(const AxisSet& left, const AxisSet& right, const AxisSet& needed);

/// What a step costs that takes so many FLOP and leaves so many elements; the cost of an order is the sum of its
/// steps'.
using Cost = std::function<double(double flops, double elements)>;
double flops_alone(double flops, double elements);

/// Most operands of which every order is looked at: 3^10 / 2 splits, 0.2 to 0.6 ms (Zen 4).
inline constexpr size_t kMaxExact = 10;

/// As many as a tensor has.
inline constexpr size_t kMaxDimensions = 32;

/// Numbers of the two that a step contracts: operands count from 0, results of earlier steps follow.
using Order = std::vector<std::pair<int, int>>;

Order left_to_right(size_t operands);

/// `extents` by axis; without them left to right. Of up to ten operands the order of the least cost, among equals the
/// one whose steps leave the fewest elements, then one that multiplies without summing where the last operand is
/// (callers have the one along which results lie in memory there: kernels copy it, and a copy may as well hold the
/// product), and then one that starts from the left. Of more what a search finds (order_search.h), the same every time.
/// `needed`: axes used outside. At least one operand.
Order best_order(const std::vector<AxisSet>& operands, const AxisSet& needed,
                 const std::optional<std::vector<double>>& extents, const Cost& cost = flops_alone);

}  // namespace tile_tune::plan
