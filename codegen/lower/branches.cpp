#include "codegen/lower/branches.h"

#include <algorithm>
#include <random>

#include "codegen/lower/expression.h"
#include "codegen/lower/signs.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using ir::Formula;

// Whether the formula holds at most points of the indices' ranges, by so many of them. Borders are thin.
bool holds_mostly(const ir::Statement& statement, const Formula& formula) {
  constexpr int kPoints = 1000;
  std::mt19937_64 random(1);
  std::vector<int64_t> point(statement.indices.size());
  int holding = 0;
  for (int i = 0; i < kPoints; ++i) {
    for (size_t k = 0; k < point.size(); ++k) {
      const auto range = ir::range(statement.indices[k]);
      if (range.extent() > 0)
        point[k] = range.lo + static_cast<int64_t>(random() % static_cast<uint64_t>(range.extent()));
    }
    holding += ir::holds_at(formula, point) ? 1 : 0;
  }
  return 2 * holding >= kPoints;
}

Expr holds(const Formula& formula, const std::vector<Expr>& indices) {
  if (formula.kind == Formula::Kind::NotNegative) return to_halide(formula.expr, indices) >= 0;
  const bool all = formula.kind == Formula::Kind::All;
  Expr result = all ? Halide::Internal::const_true() : Halide::Internal::const_false();
  for (const auto& part : formula.parts) result = all ? result && holds(part, indices) : result || holds(part, indices);
  return Halide::Internal::simplify(result);
}

// A name for each part, by which `use` may mention it many times: Halide walks expressions as trees.
Values all_named(const Values& values, const std::function<Values(const Values&)>& use) {
  Values names;
  std::vector<std::string> fresh;
  for (const auto& value : values) {
    const bool short_enough = value.as<Halide::Internal::Variable>() || Halide::Internal::is_const(value);
    fresh.push_back(short_enough ? "" : Halide::Internal::unique_name('b'));
    names.push_back(short_enough ? value : Halide::Internal::Variable::make(value.type(), fresh.back()));
  }
  return each_part(use(names), [&](Expr result) {
    for (size_t i = 0; i < values.size(); ++i)
      if (!fresh[i].empty()) result = Halide::Internal::Let::make(fresh[i], values[i], result);
    return result;
  });
}

}  // namespace

Branches::Branches(const ir::Statement& statement, const ir::Expr& spelled) {
  collect(statement, *statement.value, spelled);
}

// Where sizes have names, more comparisons may be left than between numbers: of these nothing is known.
Branches::Decided Branches::decided(const ir::Statement& statement, const Formula& bound, const Formula& spelled) {
  Decided result{spelled, holds_mostly(statement, bound), {}};
  const bool alike = bound.kind == spelled.kind && bound.parts.size() == spelled.parts.size();
  for (size_t i = 0; i < spelled.parts.size(); ++i)
    result.parts.push_back(decided(statement, alike ? bound.parts[i] : Formula::truth(), spelled.parts[i]));
  return result;
}

// One select for each comparison, each with its likely side: Halide folds nested ones with one value into the select of
// a conjunction, at which it cuts no loop. Of a branch Halide asks only for the elements at which a single comparison
// holds, and then for the rest of their vector, which may be outside of its tensor. It does not look into conjunctions;
// `always` is one until loops are cut.
Values Branches::choose(const Decided& condition, const std::vector<Expr>& indices, const Values& yes,
                        const Values& no) {
  const ir::Formula& formula = condition.formula;
  const bool mostly = condition.holds_mostly;
  const auto likely = [](const Expr& part) { return Halide::likely(part); };
  const Expr always = Halide::likely(Halide::Internal::const_true());
  if (formula.kind == Formula::Kind::NotNegative)
    return select(holds(formula, indices) && always, mostly ? each_part(yes, likely) : yes,
                  mostly ? no : each_part(no, likely));
  const bool all = formula.kind == Formula::Kind::All;
  Values result = all ? yes : no;
  for (auto part = condition.parts.rbegin(); part != condition.parts.rend(); ++part)
    result = all ? choose(*part, indices, result, no) : choose(*part, indices, yes, result);
  return result;
}

void Branches::collect(const ir::Statement& statement, const ir::Expr& bound, const ir::Expr& spelled) {
  if (const auto* cast = std::get_if<ir::Cast>(&bound.node))
    return collect(statement, *cast->argument, *std::get<ir::Cast>(spelled.node).argument);
  if (const auto* read = std::get_if<ir::Read>(&bound.node)) {
    const auto& other = std::get<ir::Read>(spelled.node);
    for (size_t d = 0; d < read->subscripts.size(); ++d)
      if (const auto* nested = std::get_if<ir::ExprPtr>(&read->subscripts[d]))
        collect(statement, **nested, *std::get<ir::ExprPtr>(other.subscripts[d]));
    return;
  }
  const auto* call = std::get_if<ir::Call>(&bound.node);
  if (!call) return;
  if (call->op == ir::Op::Select && !selects_.contains(&spelled)) decide(statement, bound, spelled);
  const auto& arguments = std::get<ir::Call>(spelled.node).arguments;
  for (size_t i = 0; i < arguments.size(); ++i) collect(statement, *call->arguments[i], *arguments[i]);
}

void Branches::decide(const ir::Statement& statement, const ir::Expr& bound, const ir::Expr& spelled) {
  const auto& condition = *std::get<ir::Call>(bound.node).arguments[0];
  const auto formula = ir::formula_of(condition, true, &statement);
  if (!formula) return;
  if (&bound == &spelled) {
    selects_[&spelled] = decided(statement, *formula, *formula);
    return;
  }
  // With names for sizes the ranges tell nothing.
  const auto in_numbers = ir::formula_of(condition, true);
  const auto in_names = ir::formula_of(*std::get<ir::Call>(spelled.node).arguments[0], true);
  if (in_numbers && in_names) selects_[&spelled] = decided(statement, *in_numbers, *in_names);
}

Values Branches::value(const ir::Expr& select, const std::vector<Expr>& indices, const Values& yes,
                       const Values& no) const {
  const auto& condition = selects_.at(&select);
  if (condition.formula.is_true()) return yes;
  if (condition.formula.is_false()) return no;
  // Clamps that only the rare branch needs do not cut the loops of the other one.
  const auto rare = [](const Expr& part) { return word_of(Halide::Internal::remove_likelies(part)); };
  const auto usual = [](const Expr& part) { return word_of(part); };
  const Values words =
      all_named(condition.holds_mostly ? each_part(yes, usual) : each_part(yes, rare), [&](const Values& first) {
        return all_named(condition.holds_mostly ? each_part(no, rare) : each_part(no, usual),
                         [&](const Values& second) { return choose(condition, indices, first, second); });
      });
  return each_part(words, [&](const Expr& word) { return value_of(yes[0].type(), word); });
}

std::vector<Expr> Branches::conditions(const ir::Expr& select, const std::vector<Expr>& indices) const {
  const auto& formula = selects_.at(&select).formula;
  if (formula.kind != Formula::Kind::All) return {holds(formula, indices)};
  std::vector<Expr> result;
  for (const auto& part : formula.parts) result.push_back(holds(part, indices));
  return result;
}

}  // namespace tile_tune::codegen
