#include <fmt/format.h>
#include <algorithm>
#include <numeric>

#include "frontend/ir/change_of_variables.h"
#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/integer_set.h"

namespace tile_tune::ir {
namespace {

/// 0 <= expr < bound, and where that was said.
struct Demand {
  Relation relation;
  std::string text;
};

// The constraints first: of two demands that say the same it is the user's own that is told.
std::vector<Demand> demands_of(const Program& program, const Statement& statement) {
  std::vector<Demand> demands;
  for (const auto& constraint : statement.constraints)
    demands.push_back({{constraint.expr, constraint.bound.constant().value()},
                       fmt::format("constraint {} < {}", to_text(statement, constraint.expr), constraint.bound.str())});
  for (const auto& [number, d, subscript, read] : affine_accesses(statement)) {
    const auto access = read ? to_text(program, statement, *read) : target_text(program, statement);
    demands.push_back({{*subscript, extent(program.tensors[number], d)}, fmt::format("{}, dimension {}", access, d)});
  }
  return demands;
}

/// Directions in which every demand's expression stays as it is, as expressions over the indices.
Result<std::vector<AffineExpr>> free_directions(const Statement& statement, const std::vector<Demand>& demands) {
  ChangeOfVariables change(statement.indices.size());
  std::vector<size_t> among(change.size());
  std::iota(among.begin(), among.end(), 0);
  for (const auto& demand : demands)
    if (const auto pivot = change.concentrate(demand.relation.expr, among))
      among.erase(std::find(among.begin(), among.end(), *pivot));
  if (change.overflowed())
    return fail(ErrorClass::Mismatch, "size-overflow", "coefficients of subscripts or constraints are too large");
  std::vector<AffineExpr> directions;
  for (const size_t k : among) {
    AffineExpr direction;
    for (size_t i = 0; i < change.size(); ++i)
      if (const int64_t step = change.old_index(i).coefficient(static_cast<int>(k)); step != 0)
        direction.terms.emplace_back(static_cast<int>(i), step);
    if (direction.terms.front().second < 0)
      for (auto& term : direction.terms) term.second = -term.second;
    directions.push_back(std::move(direction));
  }
  return directions;
}

Result<void> check_bounded(const Statement& statement, const std::vector<Demand>& demands) {
  TILE_TUNE_TRY(directions, free_directions(statement, demands));
  for (const auto& direction : directions) {
    const auto& name = statement.indices[direction.terms.front().first].name;
    const auto text = to_text(statement, direction);
    return fail(ErrorClass::Program, "unbounded-index",
                text == name ? fmt::format("nothing bounds index {}", name)
                             : fmt::format("nothing bounds index {}: {} can be any integer", name, text),
                fmt::format("add a constraint on {}, or use it in a subscript", text));
  }
  return {};
}

// Whether an end of an index's range comes from this demand alone. A lower end of 0 is what everyone expects; only
// another one needs its own reason.
bool decides(const Demand& demand, int index, const Range& range) {
  const auto& terms = demand.relation.expr.terms;
  if (terms.size() != 1 || terms[0].first != index) return false;
  const auto box =
      tight_box(1, {{{{{0, terms[0].second}}, demand.relation.expr.constant, demand.relation.expr.denominator},
                     demand.relation.bound}});
  return box && *box && ((**box)[0].hi == range.hi || (range.lo != 0 && (**box)[0].lo == range.lo));
}

// Of several demands on one index alone those that its range comes from, else all that mention it.
std::string reason_for(int index, const Range& range, const std::vector<Demand>& demands) {
  std::vector<std::string> direct, all;
  const auto add = [](std::vector<std::string>& texts, const std::string& text) {
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  };
  for (const auto& demand : demands) {
    if (demand.relation.expr.coefficient(index) == 0) continue;
    add(all, demand.text);
    if (decides(demand, index, range)) add(direct, demand.text);
  }
  return fmt::format("{}", fmt::join(direct.empty() ? all : direct, "; "));
}

// An expression with a denominator is an integer in every assignment if it is also a subscript.
std::vector<Constraint> needed_constraints(const Box& box, const Statement& statement,
                                           const std::vector<Relation>& relations) {
  const auto accesses = affine_accesses(statement);
  return needed_constraints(box, relations, [&](const AffineExpr& expr) {
    return std::any_of(accesses.begin(), accesses.end(),
                       [&](const AffineAccess& access) { return same_expr(*access.subscript, expr); });
  });
}

Result<bool> infer(const Program& program, Statement& statement) {
  const auto demands = demands_of(program, statement);
  TILE_TUNE_CHECK(check_bounded(statement, demands));
  std::vector<Relation> relations;
  for (const auto& demand : demands) relations.push_back(demand.relation);
  TILE_TUNE_TRY(box, tight_box(statement.indices.size(), relations));
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    auto& index = statement.indices[i];
    const Range r = box ? (*box)[i] : Range{0, 0};
    index = {index.name, r.lo, r.hi, reason_for(static_cast<int>(i), r, demands)};
  }
  statement.constraints = box ? needed_constraints(*box, statement, relations) : std::vector{impossible()};
  return !box;
}

}  // namespace

Result<bool> infer_domain(const Program& program, Statement& statement) {
  auto empty = infer(program, statement);
  if (!empty && !empty.error().place) empty.error().place = statement.place;
  return empty;
}

}  // namespace tile_tune::ir
