#include "frontend/plan/network.h"

#include <algorithm>

#include "frontend/plan/axis_ranks.h"

namespace tile_tune::plan {

bool has_groups(const Group& group) {
  return std::any_of(group.members.begin(), group.members.end(), [](const Group& one) { return one.operand < 0; });
}

AxisSet Piece::axes() const {
  AxisSet result(dimensions.begin(), dimensions.end());
  result.erase(kRepeats);
  return result;
}

Contractor::Contractor(const Network& network, const Cost& cost)
    : network_(network), cost_(cost), uses_(network.axes), types_(network.types) {
  for (size_t i = 0; i < network.operands.size(); ++i)
    for (const int axis : operand(static_cast<int>(i)).axes()) ++uses_[axis];
  AxisSet outside = network.held;
  outside.insert(network.result.begin(), network.result.end());
  for (const int axis : outside) ++uses_[axis];
  if (network.extents) ranks_ = axis_ranks(network);
}

AxisSet Contractor::needed(const AxisSet& axes) const {
  AxisSet result;
  for (const int axis : axes)
    if (uses_[axis] > 0) result.insert(axis);
  return result;
}

std::vector<Piece> Contractor::pieces_of(const Group& group) {
  if (group.operand >= 0) return {operand(group.operand)};
  std::vector<Piece> pieces;
  for (const auto& member : group.members) {
    auto parts = pieces_of(member);
    pieces.push_back(parts.size() == 1 ? std::move(parts.front()) : contract(std::move(parts), false));
  }
  return pieces;
}

double Contractor::volume(const Piece& piece) const {
  double product = 1;
  for (const int axis : piece.axes()) product *= (*network_.extents)[static_cast<size_t>(axis)];
  return product;
}

/// The innermost axes of the largest pieces: sums over them read memory in order.
AxisSet Contractor::innermost_of_largest(const std::vector<Piece>& pieces) const {
  double largest = 0;
  for (const auto& piece : pieces) largest = std::max(largest, volume(piece));
  AxisSet result;
  for (const auto& piece : pieces)
    if (volume(piece) == largest && !piece.dimensions.empty()) result.insert(piece.dimensions.back());
  return result;
}

/// By what a piece is sorted, whatever was written first, since among equal orders the first is taken: what has the
/// result's last axis comes last, so that it is innermost in what steps leave; what has none of the result's axes
/// comes before it. What is summed along memory comes first, then what is summed across.
std::vector<int> Contractor::sort_key(const Piece& piece, const AxisSet& contiguous) const {
  const auto has = [&](int axis) {
    return std::find(piece.dimensions.begin(), piece.dimensions.end(), axis) != piece.dimensions.end();
  };
  const auto& result = network_.result;
  const bool any = std::any_of(result.begin(), result.end(), has);
  const bool sums_along_memory = std::any_of(contiguous.begin(), contiguous.end(), has);
  std::vector<int> key{any ? (has(result.back()) ? 2 : 0) : 1, sums_along_memory ? 0 : 1};
  for (const int axis : piece.dimensions) key.push_back(axis == kRepeats ? -1 : ranks_[axis]);
  key.push_back(static_cast<int>(types_[piece.number]));
  return key;
}

Piece Contractor::contract(std::vector<Piece> pieces, bool last) {
  // One computation has one plan, however it is spelled. A single step to the result is the same either way.
  if (network_.extents && !(last && pieces.size() == 2)) {
    const AxisSet contiguous = innermost_of_largest(pieces);
    std::stable_sort(pieces.begin(), pieces.end(),
                     [&](const Piece& a, const Piece& b) { return sort_key(a, contiguous) < sort_key(b, contiguous); });
  }
  std::vector<AxisSet> axes;
  AxisSet all;
  for (const auto& piece : pieces) {
    axes.push_back(piece.axes());
    all.insert(axes.back().begin(), axes.back().end());
    for (const int axis : axes.back()) --uses_[axis];
  }
  const AxisSet outside = needed(all);
  for (const auto& set : axes)
    for (const int axis : set) ++uses_[axis];
  const Order order = best_order(axes, outside, network_.extents, cost_);
  for (size_t i = 0; i < order.size(); ++i) {
    const auto [left, right] = order[i];
    pieces.push_back(contract_pair(pieces[left], pieces[right], last && i + 1 == order.size()));
  }
  return std::move(pieces.back());
}

Piece Contractor::contract_pair(Piece left, Piece right, bool last) {
  AxisSet both = left.axes();
  for (const int axis : left.axes()) --uses_[axis];
  for (const int axis : right.axes()) {
    --uses_[axis];
    both.insert(axis);
  }
  const Step step = plan::contract(left.axes(), right.axes(), needed(both));
  if (!step.sum_left.empty()) left = sum_over(left, step.sum_left);
  if (!step.sum_right.empty()) right = sum_over(right, step.sum_right);
  for (const int axis : step.result) ++uses_[axis];
  return add({left.number, right.number}, last ? network_.result : kept_axes(left, right, step.result));
}

/// In the order in which the result of a step is best written and read. What alone has a kept axis innermost comes
/// last, so that it stays there, unless the other one is small: that is cheap to rearrange for vectors along its own
/// axes, and those of the larger one stay as they lie. Of two alike the right one comes first, since the left one has
/// what is summed along memory. An axis innermost in both stays innermost.
std::vector<int> Contractor::kept_axes(const Piece& left, const Piece& right, const AxisSet& kept) const {
  const auto innermost = [](const Piece& piece) {
    return piece.dimensions.empty() ? kRepeats : piece.dimensions.back();
  };
  constexpr double kSmall = 4;  // times smaller
  const double of_left = network_.extents ? volume(left) : 1, of_right = network_.extents ? volume(right) : 1;
  const bool left_kept = kept.contains(innermost(left)), right_kept = kept.contains(innermost(right));
  const bool alike = std::max(of_left, of_right) < kSmall * std::min(of_left, of_right);
  const bool right_first =
      alike && left_kept != right_kept ? left_kept : network_.extents.has_value() && of_right >= of_left;
  std::vector<int> result;
  for (const Piece* piece : {right_first ? &right : &left, right_first ? &left : &right})
    for (const int axis : piece->dimensions)
      if (kept.contains(axis) && std::find(result.begin(), result.end(), axis) == result.end()) result.push_back(axis);
  if (innermost(left) == innermost(right))
    std::stable_partition(result.begin(), result.end(), [&](int axis) { return axis != innermost(left); });
  return result;
}

Piece Contractor::sum_over(const Piece& piece, const AxisSet& summed) {
  std::vector<int> kept;
  for (const int axis : piece.dimensions)
    if (axis != kRepeats && !summed.contains(axis) && std::find(kept.begin(), kept.end(), axis) == kept.end())
      kept.push_back(axis);
  return add({piece.number}, std::move(kept));
}

Piece Contractor::without_own_sums(const Piece& piece) {
  for (const int axis : piece.axes()) --uses_[axis];
  const AxisSet kept = needed(piece.axes());
  for (const int axis : kept) ++uses_[axis];
  AxisSet summed;
  for (const int axis : piece.axes())
    if (!kept.contains(axis)) summed.insert(axis);
  return summed.empty() ? piece : sum_over(piece, summed);
}

void Contractor::finish(const std::vector<Piece>& pieces) {
  std::vector<int> numbers;
  for (const auto& piece : pieces) numbers.push_back(piece.number);
  add(std::move(numbers), network_.result);
}

Piece Contractor::add(std::vector<int> pieces, std::vector<int> dimensions) {
  const Piece result{static_cast<int>(types_.size()), dimensions};
  types_.push_back(network_.step_type);
  steps_.push_back({std::move(pieces), std::move(dimensions)});
  return result;
}

std::vector<Product> products(const Network& network, const Group& order) {
  Contractor contractor(network);
  auto pieces = contractor.pieces_of(order);
  if (pieces.size() == 1)
    contractor.finish(pieces);
  else
    contractor.contract(std::move(pieces), true);
  return contractor.steps();
}

}  // namespace tile_tune::plan
