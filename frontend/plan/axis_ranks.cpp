#include "frontend/plan/axis_ranks.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace tile_tune::plan {
namespace {

// Networks of ten operands, of which every spelling has one order, need fewer; of long ones the time stays linear.
constexpr int kMaxRounds = 30;

using Key = std::vector<int64_t>;

std::vector<int> ranks_of(const std::vector<Key>& keys) {
  auto sorted = keys;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<int> ranks;
  for (const auto& key : keys)
    ranks.push_back(static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin()));
  return ranks;
}

// `marks`: of operands that are told apart from those like them.
std::vector<int> operand_ranks(const Network& network, const std::vector<int>& marks, const std::vector<int>& ranks) {
  std::vector<Key> keys;
  for (size_t i = 0; i < network.operands.size(); ++i) {
    keys.push_back({marks[i], static_cast<int64_t>(network.types[i])});
    for (const int axis : network.operands[i]) keys.back().push_back(axis == kRepeats ? -1 : ranks[axis]);
  }
  return ranks_of(keys);
}

// Tells apart axes that stand in operands of other ranks or at other places.
std::vector<int> refined(const Network& network, const std::vector<int>& operands, const std::vector<int>& ranks) {
  std::vector<std::vector<std::pair<int, size_t>>> uses(ranks.size());
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t d = 0; d < network.operands[i].size(); ++d)
      if (const int axis = network.operands[i][d]; axis != kRepeats) uses[axis].emplace_back(operands[i], d);
  std::vector<Key> keys;
  for (size_t axis = 0; axis < ranks.size(); ++axis) {
    std::sort(uses[axis].begin(), uses[axis].end());
    keys.push_back({ranks[axis]});
    for (const auto& [operand, dimension] : uses[axis])
      keys.back().insert(keys.back().end(), {operand, static_cast<int64_t>(dimension)});
  }
  return ranks_of(keys);
}

// The first operand of the lowest rank that several have; nullopt if there is none.
std::optional<size_t> first_alike(const std::vector<int>& operands) {
  std::optional<size_t> first;
  for (size_t i = 0; i < operands.size(); ++i)
    if (std::count(operands.begin(), operands.end(), operands[i]) > 1 && (!first || operands[i] < operands[*first]))
      first = i;
  return first;
}

}  // namespace

std::vector<int> axis_ranks(const Network& network) {
  std::vector<Key> keys;
  for (size_t axis = 0; axis < network.extents->size(); ++axis) {
    const auto place = std::find(network.result.begin(), network.result.end(), static_cast<int>(axis));
    keys.push_back({place - network.result.begin(), static_cast<int64_t>((*network.extents)[axis])});
  }
  auto ranks = ranks_of(keys);
  std::vector<int> marks(network.types.size());
  for (int round = 0; round < kMaxRounds; ++round) {
    const auto operands = operand_ranks(network, marks, ranks);
    auto next = refined(network, operands, ranks);
    if (next == ranks) {
      // What is still alike nearly always is so by symmetry, as the operands of ab,bc,ca->: whichever is first.
      const auto alike = first_alike(operands);
      if (!alike) break;
      marks[*alike] = 1 + *std::max_element(marks.begin(), marks.end());
    }
    ranks = std::move(next);
  }
  return ranks;
}

}  // namespace tile_tune::plan
