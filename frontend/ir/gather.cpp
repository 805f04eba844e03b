#include "frontend/ir/gather.h"

#include <fmt/format.h>
#include <algorithm>
#include <numeric>
#include <set>

#include "frontend/ir/describe.h"
#include "frontend/ir/domain.h"
#include "frontend/ir/gathered.h"
#include "frontend/ir/integer_set.h"
#include "frontend/ir/phases.h"
#include "frontend/ir/rewrite.h"

namespace tile_tune::ir {
namespace {

// Ends of ranges stay so small that their sums and differences fit 64 bits.
constexpr int64_t kLargestEnd = int64_t{1} << 61;

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }  // b > 0

std::vector<AffineExpr> quotients(const Statement& statement) {
  std::vector<AffineExpr> result;
  for (const auto& access : affine_accesses(statement))
    if (access.subscript->denominator != 1) result.push_back(*access.subscript);
  for (const auto& constraint : statement.constraints)
    if (constraint.expr.denominator != 1) result.push_back(constraint.expr);
  return result;
}

// ---- the change of variables ----

/// Indices with the largest extents first: what is eliminated should be long, for what is left to reduce is then short.
std::vector<size_t> longest_first(const Statement& statement) {
  std::vector<size_t> order(statement.indices.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return range(statement.indices[a]).extent() > range(statement.indices[b]).extent();
  });
  return order;
}

/// x with a * x = 1 modulo m; a and m have no common divisor.
int64_t inverse(int64_t a, int64_t m) {
  __int128 r0 = m, r1 = a % m, x0 = 0, x1 = 1;
  while (r1 != 0) {
    const __int128 q = r0 / r1;
    std::tie(r0, r1) = std::pair(r1, r0 - q * r1);
    std::tie(x0, x1) = std::pair(x1, x0 - q * x1);
  }
  return static_cast<int64_t>((x0 % m + m) % m);
}

/// Restricts y to where the expression is an integer; false if that is nowhere. Reductions are restricted rather than
/// output indices, which then remain dense.
bool make_integer(ChangeOfVariables& change, const Statement& statement, const AffineExpr& expr) {
  auto order = longest_first(statement);
  std::stable_partition(order.begin(), order.end(),
                        [&](size_t i) { return statement.is_reduction(static_cast<int>(i)); });
  const int64_t d = expr.denominator;
  const auto k = change.concentrate(expr, order, d);
  const int64_t wanted = -(change.constant(expr) % d);  // coefficient * y_k = wanted modulo d
  if (!k) return wanted == 0;
  const int64_t coefficient = (change.coefficient(expr, *k) % d + d) % d;
  const int64_t common = std::gcd(coefficient, d), m = d / common;
  if (wanted % common != 0) return false;
  const __int128 first = __int128{wanted / common} * inverse(coefficient / common, m) % m;
  change.shift(*k, static_cast<int64_t>((first + m) % m));
  change.scale(*k, m);
  return true;
}

/// Puts the target's subscripts into column Hermite form; gives the pivot of each that has one.
std::vector<std::optional<size_t>> triangulate(ChangeOfVariables& change, const Statement& statement) {
  auto free = longest_first(statement);
  std::vector<std::optional<size_t>> pivots;
  for (const auto& subscript : statement.subscripts) {
    const auto pivot = change.concentrate(subscript, free);
    if (pivot) {
      const int64_t h = change.coefficient(subscript, *pivot);
      for (const auto& earlier : pivots)
        if (earlier) change.add(*earlier, *pivot, -floor_div(change.coefficient(subscript, *earlier), h));
      change.shift(*pivot, -floor_div(change.constant(subscript), h));
      free.erase(std::find(free.begin(), free.end(), *pivot));
    }
    pivots.push_back(pivot);
  }
  return pivots;
}

// ---- the statement over the new indices ----

/// An affine expression without a denominator as the value of an index was: computed in 64 bits, then converted.
Expr value_of_index(const AffineExpr& affine, DType type) {
  const int64_t constant = affine.constant.constant().value();
  const auto literal = [](int64_t value) { return make_expr(DType::I64, Literal{value}); };
  const auto call = [](Op op, ExprPtr a, ExprPtr b) {
    return make_expr(DType::I64, Call{op, {std::move(a), std::move(b)}});
  };
  if (affine.terms.size() == 1 && affine.terms[0].second == 1 && constant == 0)
    return {type, IndexValue{affine.terms[0].first}};
  ExprPtr sum;
  for (const auto& [index, coefficient] : affine.terms) {
    auto term = make_expr(DType::I64, IndexValue{index});
    if (coefficient != 1) term = call(Op::Mul, term, literal(coefficient));
    sum = sum ? call(Op::Add, sum, term) : term;
  }
  if (!sum || constant != 0) sum = sum ? call(Op::Add, sum, literal(constant)) : literal(constant);
  return type == DType::I64 ? *sum : Expr{type, Cast{sum}};
}

/// A plain statement without a valid assignment.
Statement nothing_written(const Program& program, const Statement& statement) {
  Statement result = statement;
  result.subscripts.clear();
  result.indices.clear();
  const auto extents = shape(program.tensors[statement.target]);
  for (size_t d = 0; d < extents.size(); ++d) {
    result.subscripts.push_back(AffineExpr::index(static_cast<int>(d)));
    result.indices.push_back({fmt::format("o{}", d), 0, extents[d], ""});
  }
  result.constraints = {impossible()};
  result.value = zero(statement.value->type);
  return result;
}

std::vector<Index> new_indices(const Program& program, const Statement& statement, const ChangeOfVariables& change,
                               const std::vector<std::optional<size_t>>& pivots) {
  std::vector<Index> indices = statement.indices;
  std::set<std::string> taken;
  for (const auto& index : indices) taken.insert(index.name);
  const auto fresh = [&](std::string name) {
    while (!taken.insert(name).second) name += "_";
    return name;
  };
  for (size_t i = 0; i < indices.size(); ++i) {
    if (change.keeps(i)) continue;
    const auto dimension = std::find(pivots.begin(), pivots.end(), std::optional(i)) - pivots.begin();
    const auto p = static_cast<size_t>(dimension);
    if (p == pivots.size())
      indices[i] = {fresh(indices[i].name), 0, 0, ""};
    else
      indices[i] = {fresh(fmt::format("o{}", p)), 0, 0,
                    fmt::format("{}, dimension {}", target_text(program, statement), p)};
  }
  return indices;
}

/// Ranges and constraints of the original indices over the new ones.
std::vector<Relation> relations_over(const Statement& statement, const ChangeOfVariables& change) {
  std::vector<Relation> relations;
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    const Range r = range(statement.indices[i]);
    if (r.is_empty()) continue;  // a reduction over nothing: no relation mentions it
    relations.push_back({change.apply({{{static_cast<int>(i), 1}}, -r.lo}), r.hi - r.lo});
  }
  for (const auto& constraint : statement.constraints)
    relations.push_back({change.apply(constraint.expr), constraint.bound.constant().value()});
  return relations;
}

Statement without_vacuous_constraints(Statement statement) {
  std::erase_if(statement.constraints, [whole = statement](const Constraint& one) { return is_vacuous(whole, one); });
  return statement;
}

/// A reduction over nothing assigns only starts: constraints and a value that depend on it say nothing.
Statement without_vacuous_parts(const Statement& of) {
  Statement statement = without_vacuous_constraints(of);
  statement.value = zero(statement.value->type);
  return statement;
}

tl::unexpected<Diagnostic> too_large_coefficients() {
  return fail(ErrorClass::Mismatch, "size-overflow", "coefficients of subscripts or constraints are too large");
}

Result<Gathered> change_variables(const Program& program, const Statement& statement) {
  for (const auto& index : statement.indices)
    if (range(index).lo < -kLargestEnd || range(index).hi > kLargestEnd) return too_large_coefficients();
  ChangeOfVariables change(statement.indices.size());
  for (const auto& quotient : quotients(statement)) {
    if (quotient.denominator > kLargestEnd) return too_large_coefficients();
    if (!make_integer(change, statement, quotient) && !change.overflowed())
      return Gathered{nothing_written(program, statement), std::nullopt};
  }
  const auto pivots = triangulate(change, statement);
  const auto relations = relations_over(statement, change);
  if (change.overflowed()) return too_large_coefficients();
  TILE_TUNE_TRY(box, tight_box(statement.indices.size(), relations));
  if (!box) return Gathered{nothing_written(program, statement), std::nullopt};

  Statement result = statement;
  result.indices = new_indices(program, statement, change, pivots);
  for (size_t i = 0; i < box->size(); ++i) {
    result.indices[i].lo = (*box)[i].lo;
    result.indices[i].hi = (*box)[i].hi;
  }
  result.constraints.clear();
  rewrite(result, {[&](AffineExpr& expr) { expr = change.apply(expr); },
                   [&](Expr& expr) {
                     if (const auto* value = std::get_if<IndexValue>(&expr.node))
                       expr = value_of_index(change.old_index(value->index), expr.type);
                   }});
  result.constraints = needed_constraints(*box, relations, [](const AffineExpr&) { return false; });
  if (change.overflowed()) return too_large_coefficients();
  return Gathered{std::move(result), std::move(change)};
}

Statement without_implied_constraints(Statement statement) {
  std::vector<Relation> relations;
  for (const auto& constraint : statement.constraints)
    relations.push_back({constraint.expr, constraint.bound.constant().value()});
  statement.constraints = needed_constraints(box_of(statement), relations, [](const AffineExpr&) { return false; });
  return statement;
}

}  // namespace

bool is_plain(const Statement& statement) {
  std::set<int> seen;
  for (const auto& subscript : statement.subscripts)
    if (subscript.terms.size() != 1 || subscript.terms[0].second != 1 || !seen.insert(subscript.terms[0].first).second)
      return false;
  return quotients(statement).empty();
}

Result<Gathered> gather(const Program& program, const Statement& statement) {
  const auto empty = [&](size_t i) { return range(statement.indices[i]).is_empty(); };
  bool reduces_nothing = false, writes = !writes_nothing(statement);
  for (size_t i = 0; i < statement.indices.size(); ++i) {
    if (!empty(i)) continue;
    reduces_nothing = true;
    writes &= is_plain(statement) || statement.is_reduction(static_cast<int>(i));
  }
  if (!writes) return Gathered{nothing_written(program, statement), std::nullopt};
  if (is_plain(statement)) {
    const ChangeOfVariables identity(statement.indices.size());
    return Gathered{reduces_nothing ? without_vacuous_constraints(statement) : without_implied_constraints(statement),
                    identity};
  }
  auto result = change_variables(program, reduces_nothing ? without_vacuous_parts(statement) : statement);
  if (!result && !result.error().place) result.error().place = statement.place;
  return result;
}

Result<Statement> gather_form(const Program& program, const Statement& statement) {
  const bool has_points =
      !writes_nothing(statement) && std::none_of(statement.indices.begin(), statement.indices.end(),
                                                 [](const Index& index) { return range(index).is_empty(); });
  if (has_points && !is_plain(statement)) {
    if (const auto phases = split_phases(statement)) {
      TILE_TUNE_TRY(gathered, gather(program, phases->statement));
      if (!gathered.change) return std::move(gathered.statement);
      if (auto joined = join_phases(std::move(gathered.statement), *phases)) return std::move(*joined);
    }
  }
  TILE_TUNE_TRY(gathered, gather(program, statement));
  return std::move(gathered.statement);
}

std::optional<std::vector<std::vector<Pivot>>> pivots_of(const Statement& statement) {
  if (!quotients(statement).empty()) return std::nullopt;
  std::set<int> solved;
  std::vector<std::vector<Pivot>> pivots;
  for (const auto& subscript : statement.subscripts) {
    std::vector<Pivot> own;
    for (const auto& [index, factor] : subscript.terms)
      if (solved.insert(index).second) own.push_back({index, factor});
    std::sort(own.begin(), own.end(), [](const Pivot& a, const Pivot& b) { return a.factor > b.factor; });
    __int128 span = 0;  // how far the pivots after one reach
    for (auto pivot = own.rbegin(); pivot != own.rend(); ++pivot) {
      if (pivot->factor < 1 || pivot->factor <= span) return std::nullopt;
      const int64_t extent = range(statement.indices[pivot->index]).extent();
      span += __int128{pivot->factor} * std::max<int64_t>(extent - 1, 0);
    }
    pivots.push_back(std::move(own));
  }
  return pivots;
}

}  // namespace tile_tune::ir
