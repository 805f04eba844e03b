#include "engine/programs/contraction_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace tile_tune::engine {

tensor::Expected<plan::Order> order_of_path(const std::vector<std::pair<int, int>>& path, size_t operands) {
  std::vector<int> left(operands);
  std::iota(left.begin(), left.end(), 0);
  const auto bad = [&](size_t step, int first, int second) {
    return tensor::Error{
        "bad-path",
        fmt::format("einsum: step {} of the path takes {} and {} of {} operands", step, first, second, left.size()),
        "each step names two places in what is left, where its result comes last",
        "einsum",
        {static_cast<int64_t>(step), first, second, static_cast<int64_t>(left.size())}};
  };
  plan::Order order;
  for (size_t step = 0; step < path.size(); ++step) {
    const auto [first, second] = path[step];
    const auto is_place = [&](int place) { return place >= 0 && static_cast<size_t>(place) < left.size(); };
    if (!is_place(first) || !is_place(second) || first == second) return bad(step, first, second);
    order.emplace_back(left[static_cast<size_t>(first)], left[static_cast<size_t>(second)]);
    left.erase(left.begin() + std::max(first, second));
    left.erase(left.begin() + std::min(first, second));
    left.push_back(static_cast<int>(operands + step));
  }
  if (left.size() == 1) return order;
  return tensor::Error{"bad-path",
                       fmt::format("einsum: the path ends with {} operands left", left.size()),
                       "there is a step less than there are operands",
                       "einsum",
                       {static_cast<int64_t>(path.size()), 0, 0, static_cast<int64_t>(left.size())}};
}

plan::Group group_of(const plan::Order& order, size_t operands) {
  std::vector<plan::Group> pieces;
  for (size_t i = 0; i < operands; ++i) pieces.push_back({static_cast<int>(i), {}});
  for (const auto& [left, right] : order) {
    plan::Group group;
    group.members.push_back(std::move(pieces[static_cast<size_t>(left)]));
    group.members.push_back(std::move(pieces[static_cast<size_t>(right)]));
    pieces.push_back(std::move(group));
  }
  return std::move(pieces.back());
}

plan::Order order_of(const plan::Group& group, size_t operands) {
  plan::Order order;
  const std::function<int(const plan::Group&)> visit = [&](const plan::Group& one) {
    if (one.operand >= 0) return one.operand;
    int left = visit(one.members.front());
    for (size_t i = 1; i < one.members.size(); ++i) {
      order.emplace_back(left, visit(one.members[i]));
      left = static_cast<int>(operands + order.size() - 1);
    }
    return left;
  };
  visit(group);
  return order;
}

std::string order_text(const plan::Order& order) {
  std::string text;
  for (const auto& [left, right] : order) text += fmt::format("{}{},{}", text.empty() ? "" : ";", left, right);
  return text;
}

}  // namespace tile_tune::engine
