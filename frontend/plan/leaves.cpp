#include "frontend/plan/leaves.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tile_tune::plan {

Leaves leaves_of(const std::vector<AxisSet>& operands, const AxisSet& needed, const std::vector<double>& extents) {
  std::map<int, std::vector<int>> holders;  // of each axis; what is needed is held by number -1
  for (const int axis : needed) holders[axis].push_back(-1);
  for (size_t i = 0; i < operands.size(); ++i)
    for (const int axis : operands[i]) holders[axis].push_back(static_cast<int>(i));
  std::map<std::vector<int>, double> merged;
  for (const auto& [axis, in] : holders) {
    if (in.back() < 0) continue;  // of no operand
    const auto [at, is_new] = merged.emplace(in, 1);
    at->second *= extents[static_cast<size_t>(axis)];
  }
  std::vector<const std::pair<const std::vector<int>, double>*> sorted;
  for (const auto& one : merged) sorted.push_back(&one);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->second < b->second; });
  Leaves leaves;
  leaves.operands.resize(operands.size());
  for (const auto* one : sorted) {
    const int label = static_cast<int>(leaves.extents.size());
    leaves.extents.push_back(one->second);
    for (const int holder : one->first)
      (holder < 0 ? leaves.needed : leaves.operands[static_cast<size_t>(holder)]).push_back(label);
  }
  return leaves;
}

}  // namespace tile_tune::plan
