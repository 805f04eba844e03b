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

/// Two points of the domain with equal output indices: the second's index i has the number twin[i].
struct Twins {
  Box box;
  std::vector<Relation> relations;
  std::vector<int> twin;

  Result<std::optional<std::vector<int64_t>>> sample(Operations& operations) const {
    std::vector<int> members(box.size());
    std::iota(members.begin(), members.end(), 0);
    return IntegerSet(operations, members, relations, &box).sample();
  }
};

Twins twins_of(const Statement& statement, const std::vector<int>& reductions) {
  Twins twins{box_of(statement), relations_of(statement), std::vector<int>(statement.indices.size())};
  auto& [box, relations, twin] = twins;
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
  return twins;
}

/// Two points with equal output indices, of which the reduction `reductions[k]` is the first to differ.
Result<std::optional<Pair>> find_pair(Operations& operations, const Statement& statement,
                                      const std::vector<int>& reductions, size_t k) {
  Twins twins = twins_of(statement, reductions);
  for (size_t j = 0; j <= k; ++j) {
    const int r = reductions[j];
    twins.relations.push_back({{{{r, -1}, {twins.twin[r], 1}}, j < k ? 0 : -1}, j < k ? 1 : INT64_MAX});
  }
  TILE_TUNE_TRY(point, twins.sample(operations));
  if (!point) return std::nullopt;
  const auto count = static_cast<std::ptrdiff_t>(statement.indices.size());
  Pair pair{{point->begin(), point->begin() + count}, {}};
  for (const int i : twins.twin) pair.second.push_back((*point)[i]);
  return pair;
}

/// By how much an expression differs from one of two points with equal output indices to the other, up to a factor.
AffineExpr difference_of(const Twins& twins, const AffineExpr& expr) {
  AffineExpr difference;
  int64_t common = 0;  // with the sign of the first factor
  for (const auto& [index, factor] : expr.terms)
    if (twins.twin[index] != index) common = common == 0 ? factor : std::gcd(common, factor) * (common < 0 ? -1 : 1);
  for (const auto& [index, factor] : expr.terms)
    if (twins.twin[index] != index) {
      difference.terms.emplace_back(index, -factor / common);
      difference.terms.emplace_back(twins.twin[index], factor / common);
    }
  std::sort(difference.terms.begin(), difference.terms.end());
  return difference;
}

/// Whether it can be positive (or, the points exchanged, negative); true where that cannot be told.
bool can_differ(Twins twins, AffineExpr difference) {
  if (difference.terms.empty()) return false;
  difference.constant = -1;
  twins.relations.push_back({difference, INT64_MAX});
  Operations operations;
  const auto point = twins.sample(operations);
  return !point || *point;
}

/// Of a statement in gather form, those over more than one value; none if a range is empty.
std::vector<int> long_reductions(const Statement& statement) {
  const Box box = box_of(statement);
  if (std::any_of(box.begin(), box.end(), [](const Range& r) { return r.hi <= r.lo; })) return {};
  auto reductions = statement.reduction_indices();
  std::erase_if(reductions, [&](int i) { return box[i].lo + 1 == box[i].hi; });
  return reductions;
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
  const auto reductions = long_reductions(gathered.statement);
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

Result<std::vector<int>> shared_indices(const Program& program, const Statement& statement) {
  std::vector<int> shared;
  const auto is_subscript = [&](int i) {
    return std::any_of(statement.subscripts.begin(), statement.subscripts.end(), [&](const AffineExpr& subscript) {
      return subscript.terms.size() == 1 && subscript.terms[0].first == i;
    });
  };
  for (int i = 0; i < static_cast<int>(statement.indices.size()); ++i)
    if (!statement.is_reduction(i) && !is_subscript(i)) shared.push_back(i);
  if (shared.empty()) return shared;
  TILE_TUNE_TRY(gathered, gather(program, statement));
  if (!gathered.change) return std::vector<int>{};
  const auto reductions = long_reductions(gathered.statement);
  if (reductions.empty()) return std::vector<int>{};
  const Twins twins = twins_of(gathered.statement, reductions);
  std::vector<std::pair<AffineExpr, bool>> known;  // most indices differ in the same
  std::erase_if(shared, [&](int i) {
    const AffineExpr difference = difference_of(twins, gathered.change->old_index(static_cast<size_t>(i)));
    auto found =
        std::find_if(known.begin(), known.end(), [&](const auto& one) { return same_expr(one.first, difference); });
    if (found == known.end()) found = known.insert(found, {difference, can_differ(twins, difference)});
    return !found->second;
  });
  return shared;
}

}  // namespace tile_tune::ir
