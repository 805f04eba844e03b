#include "frontend/ir/guarded_terms.h"

#include <algorithm>
#include <map>

#include "frontend/ir/path_condition.h"

namespace tile_tune::ir {
namespace {

/// A condition, or its negation, that indices and sizes decide.
struct Decided {
  ExprPtr condition;
  bool holds;
  Formula formula;
};

bool is_zero(const Expr& expr) {
  if (const auto* cast = std::get_if<Cast>(&expr.node)) return is_zero(*cast->argument);
  const auto* literal = std::get_if<Literal>(&expr.node);
  return literal && std::visit([](auto value) { return value == 0; }, literal->value);
}

bool reads(const Expr& expr) {
  bool found = false;
  for_each_read(expr, [&](const Read&) { found = true; });
  return found;
}

ExprPtr as_written(const ExprPtr& condition, bool holds) {
  return holds ? condition : make_expr(DType::Bool, Call{Op::Not, {condition}});
}

/// Takes the guards out of a product's factors.
class Guards {
 public:
  ExprPtr without(const ExprPtr& expr) {
    if (const auto* cast = std::get_if<Cast>(&expr->node)) return rebuilt(expr, Cast{without(cast->argument)});
    const auto* call = std::get_if<Call>(&expr->node);
    if (!call) return expr;
    if (call->op == Op::Neg) return rebuilt(expr, Call{Op::Neg, {without(call->arguments[0])}});
    // Bools multiply by and (expr.h).
    if (call->op == Op::Mul || (call->op == Op::And && expr->type == DType::Bool))
      return rebuilt(expr, Call{call->op, {without(call->arguments[0]), without(call->arguments[1])}});
    if (call->op != Op::Select) return expr;
    const auto& arguments = call->arguments;
    if (is_zero(*arguments[2]) && reads(*arguments[1])) return branch(expr, arguments[0], true, arguments[1]);
    if (is_zero(*arguments[1]) && reads(*arguments[2])) return branch(expr, arguments[0], false, arguments[2]);
    return expr;
  }

  const std::vector<Decided>& conditions() const { return conditions_; }

 private:
  template <typename Node>
  ExprPtr rebuilt(const ExprPtr& expr, Node node) {
    return conditions_.empty() ? expr : make_expr(expr->type, std::move(node));
  }

  ExprPtr branch(const ExprPtr& select, const ExprPtr& condition, bool holds, const ExprPtr& value) {
    const size_t before = conditions_.size();
    ExprPtr rest;
    split(condition, holds, rest);
    const auto inner = without(value);
    if (conditions_.size() == before) return select;
    return rest ? make_expr(select->type, Call{Op::Select, {rest, inner, zero(select->type)}}) : inner;
  }

  // What the indices decide joins the conditions, the others `rest`.
  void split(const ExprPtr& condition, bool holds, ExprPtr& rest) {
    const auto* call = std::get_if<Call>(&condition->node);
    if (call && call->op == Op::Not) return split(call->arguments[0], !holds, rest);
    if (call && call->op == (holds ? Op::And : Op::Or)) {
      split(call->arguments[0], holds, rest);
      return split(call->arguments[1], holds, rest);
    }
    if (auto formula = formula_of(*condition, holds)) {
      conditions_.push_back({condition, holds, *std::move(formula)});
      return;
    }
    const auto written = as_written(condition, holds);
    rest = rest ? make_expr(DType::Bool, Call{Op::And, {rest, written}}) : written;
  }

  std::vector<Decided> conditions_;
};

/// low <= sum of the terms <= high.
struct Limits {
  std::optional<SizeExpr> low, high;
};
using Terms = std::vector<std::pair<int, int64_t>>;

/// Comparisons that must all hold, by what they compare; the first term of each is positive.
class Comparisons {
 public:
  /// False, and nothing is taken, if the formula is more than comparisons that must all hold.
  bool take(const Formula& formula) {
    if (formula.kind == Formula::Kind::NotNegative) {
      add(formula.expr);
      return true;
    }
    const auto simple = [](const Formula& part) { return part.kind == Formula::Kind::NotNegative; };
    if (formula.kind != Formula::Kind::All || !std::all_of(formula.parts.begin(), formula.parts.end(), simple))
      return false;
    for (const auto& part : formula.parts) add(part.expr);
    return true;
  }

  /// Constraints have both ends: the indices' ranges give the other one. nullopt where numbers leave 64 bits.
  std::optional<std::vector<Constraint>> constraints(const std::vector<Index>& indices) const {
    std::vector<Constraint> result;
    for (const auto& [terms, limits] : limits_) {
      const auto [least, most] = over_ranges(terms, indices);
      const SizeExpr low = limits.low.value_or(least), high = limits.high.value_or(most);
      Constraint constraint{{terms, -low, 1}, high - low + 1};
      if (constraint.expr.constant.overflowed() || constraint.bound.overflowed()) return std::nullopt;
      result.push_back(std::move(constraint));
    }
    return result;
  }

 private:
  void add(const AffineExpr& expr) {
    Terms terms = expr.terms;
    const bool rises = terms.empty() || terms.front().second > 0;
    if (!rises)
      for (auto& term : terms) term.second = -term.second;
    auto& [low, high] = limits_[terms];
    if (rises)
      low = low ? SizeExpr::max(*low, -expr.constant) : -expr.constant;
    else
      high = high ? SizeExpr::min(*high, expr.constant) : expr.constant;
  }

  static std::pair<SizeExpr, SizeExpr> over_ranges(const Terms& terms, const std::vector<Index>& indices) {
    SizeExpr least, most;
    for (const auto& [index, coefficient] : terms) {
      const auto first = indices[index].lo * coefficient, last = (indices[index].hi - 1) * coefficient;
      least = least + (coefficient > 0 ? first : last);
      most = most + (coefficient > 0 ? last : first);
    }
    return {least, most};
  }

  std::map<Terms, Limits> limits_;
};

}  // namespace

Statement leave_out_guarded_terms(Statement statement) {
  if (statement.op != Aggregation::Sum || statement.unwritten) return statement;
  Guards guards;
  auto value = guards.without(statement.value);
  if (guards.conditions().empty()) return statement;
  Comparisons comparisons;
  ExprPtr others;
  for (const auto& [condition, holds, formula] : guards.conditions()) {
    if (comparisons.take(formula)) continue;
    const auto written = as_written(condition, holds);
    others = others ? make_expr(DType::Bool, Call{Op::And, {others, written}}) : written;
  }
  const auto constraints = comparisons.constraints(statement.indices);
  if (!constraints) return statement;
  statement.constraints.insert(statement.constraints.end(), constraints->begin(), constraints->end());
  statement.value = others ? make_expr(value->type, Call{Op::Select, {others, value, zero(value->type)}}) : value;
  return statement;
}

}  // namespace tile_tune::ir
