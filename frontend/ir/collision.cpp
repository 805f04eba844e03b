#include <algorithm>
#include <cstdint>
#include <numeric>

#include "frontend/ir/domain.h"
#include "frontend/ir/gathered.h"
#include "frontend/ir/integer_set.h"

namespace tile_tune::ir {
namespace {

// In gather form an element determines the pivots, so assignments collide that differ in reductions alone.
struct Pair {
  std::vector<int64_t> first, second;
};

/// Two points of the domain with equal output indices, of which the reduction `reductions[k]` is the first to differ.
Result<std::optional<Pair>> find_pair(Operations& operations, const Statement& statement,
                                      const std::vector<int>& reductions, size_t k) {
  const int count = static_cast<int>(statement.indices.size());
  Box box = box_of(statement);
  auto relations = relations_of(statement);
  std::vector<int> twin(count);
  std::iota(twin.begin(), twin.end(), 0);
  for (const int reduction : reductions) {
    twin[reduction] = static_cast<int>(box.size());
    box.push_back(Range(box[reduction]));
  }
  for (auto relation : std::vector(relations)) {
    for (auto& term : relation.expr.terms) term.first = twin[term.first];
    std::sort(relation.expr.terms.begin(), relation.expr.terms.end());
    relations.push_back(std::move(relation));
  }
  for (size_t j = 0; j <= k; ++j) {
    const int r = reductions[j];
    relations.push_back({{{{r, -1}, {twin[r], 1}}, j < k ? 0 : -1}, j < k ? 1 : INT64_MAX});
  }
  std::vector<int> members(box.size());
  std::iota(members.begin(), members.end(), 0);
  TILE_TUNE_TRY(point, IntegerSet(operations, members, relations, &box).sample());
  if (!point) return std::nullopt;
  Pair pair{{point->begin(), point->begin() + count}, {}};
  for (int i = 0; i < count; ++i) pair.second.push_back((*point)[twin[i]]);
  return pair;
}

Result<std::optional<Pair>> find_pair(const Statement& statement, const std::vector<int>& reductions) {
  if (relations_of(statement).empty()) {
    Pair pair;
    for (const auto& index : statement.indices) pair.first.push_back(range(index).lo);
    pair.second = pair.first;
    ++pair.second[reductions[0]];
    return pair;
  }
  Operations operations;
  for (size_t k = 0; k < reductions.size(); ++k) {
    TILE_TUNE_TRY(pair, find_pair(operations, statement, reductions, k));
    if (pair) return pair;
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<Collision>> find_collision(const Program& program, const Statement& statement) {
  TILE_TUNE_TRY(gathered, gather(program, statement));
  if (!gathered.change) return std::nullopt;
  auto reductions = gathered.statement.reduction_indices();
  const Box box = box_of(gathered.statement);
  if (std::any_of(box.begin(), box.end(), [](const Range& r) { return r.hi <= r.lo; })) return std::nullopt;
  std::erase_if(reductions, [&](int i) { return box[i].lo + 1 == box[i].hi; });
  if (reductions.empty()) return std::nullopt;
  TILE_TUNE_TRY(pair, find_pair(gathered.statement, reductions));
  if (!pair) return std::nullopt;
  Collision collision{gathered.change->old_point(pair->first), gathered.change->old_point(pair->second), {}};
  for (const auto& subscript : statement.subscripts) {
    int64_t element = subscript.constant.constant().value();
    for (const auto& [index, coefficient] : subscript.terms) element += coefficient * collision.first[index];
    collision.element.push_back(element / subscript.denominator);
  }
  return collision;
}

}  // namespace tile_tune::ir
