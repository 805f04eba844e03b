// An order of contractions as a tree, of which parts can be exchanged.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "frontend/plan/label_set.h"
#include "frontend/plan/leaves.h"
#include "frontend/plan/prices.h"

namespace tile_tune::plan {

template <size_t Words>
struct Tree {
  using Set = LabelSet<Words>;
  struct Node {
    int left = -1, right = -1;  // of a step
    Set labels;                 // of the operand, or of what the step leaves
    double cost = 0;            // of the step
  };
  std::vector<Node> nodes;  // operands first, then steps; children of steps may have any number
  int root = -1;
  size_t operands = 0;

  bool is_step(int node) const { return static_cast<size_t>(node) >= operands; }
  double cost() const {
    double sum = 0;
    for (const auto& node : nodes) sum += node.cost;
    return sum;
  }
};

/// Steps of which each comes after its children.
template <size_t Words>
std::vector<int> steps_from_below(const Tree<Words>& tree) {
  std::vector<int> steps{tree.root};
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto& node = tree.nodes[static_cast<size_t>(steps[i])];
    for (const int child : {node.left, node.right})
      if (tree.is_step(child)) steps.push_back(child);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

/// Each step with the part on the left that has the first of its operands, the steps of its parts before it.
template <size_t Words>
Order order_of(const Tree<Words>& tree) {
  std::vector<int> first(tree.nodes.size()), number(tree.nodes.size());
  for (size_t i = 0; i < tree.operands; ++i) first[i] = number[i] = static_cast<int>(i);
  for (const int step : steps_from_below(tree)) {
    const auto& node = tree.nodes[step];
    first[step] = std::min(first[node.left], first[node.right]);
  }
  Order order;
  std::vector<std::pair<int, bool>> open{{tree.root, false}};
  while (!open.empty()) {
    auto [at, is_ready] = open.back();
    open.pop_back();
    if (!tree.is_step(at)) continue;
    auto [left, right] = std::pair(tree.nodes[at].left, tree.nodes[at].right);
    if (first[left] > first[right]) std::swap(left, right);
    if (is_ready) {
      order.emplace_back(number[left], number[right]);
      number[at] = static_cast<int>(tree.operands + order.size() - 1);
    } else {
      open.emplace_back(at, true);
      open.emplace_back(right, false);
      open.emplace_back(left, false);
    }
  }
  return order;
}

}  // namespace tile_tune::plan
