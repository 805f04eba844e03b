#include "frontend/ir/path_condition.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "frontend/ir/affine_arithmetic.h"
#include "frontend/ir/integer_set.h"

namespace tile_tune::ir {
namespace {

// Of a formula: equality of conditions names each side twice, so nested ones would grow without end. Larger ones are
// no condition that anyone writes, and nothing is decided by them.
constexpr int kMaxComparisons = 256;

constexpr int kMaxAffineDepth = 200;

/// Integer expressions as affine ones of the indices, exact where nothing wraps.
class AffineReader {
 public:
  explicit AffineReader(const Statement* statement)
      : box_(statement ? std::optional(box_of(*statement)) : std::nullopt) {}

  std::optional<AffineExpr> read(const Expr& expr, int depth = 0) const {
    if (!is_integer(expr.type) || depth > kMaxAffineDepth) return std::nullopt;
    auto result = dispatch(expr, depth);
    if (!result || result->constant.overflowed() || (box_ && !fits(expr.type, *result))) return std::nullopt;
    return result;
  }

  /// Whether the expression is at least 0, where that is the same at every point.
  std::optional<bool> not_negative(const AffineExpr& expr) const {
    if (!expr.constant.constant() || (!box_ && !expr.terms.empty())) return std::nullopt;
    const auto values = numerator_over_box(box_.value_or(Box()), expr);
    if (!values || (values->lo < 0 && values->hi >= 0)) return std::nullopt;
    return values->lo >= 0;
  }

 private:
  std::optional<AffineExpr> dispatch(const Expr& expr, int depth) const {
    if (const auto* literal = std::get_if<Literal>(&expr.node)) {
      const auto* number = std::get_if<int64_t>(&literal->value);
      return number ? std::optional(AffineExpr{{}, *number, 1}) : std::nullopt;
    }
    if (const auto* value = std::get_if<IndexValue>(&expr.node)) return AffineExpr::index(value->index);
    if (const auto* value = std::get_if<SizeValue>(&expr.node)) return AffineExpr{{}, value->size, 1};
    if (const auto* cast = std::get_if<Cast>(&expr.node)) return read(*cast->argument, depth + 1);
    const auto* call = std::get_if<Call>(&expr.node);
    if (!call || call->arguments.size() > 2) return std::nullopt;
    const auto a = read(*call->arguments[0], depth + 1);
    if (!a) return std::nullopt;
    if (call->op == Op::Neg) return multiply_add(-1, *a, {});
    const auto b = call->arguments.size() == 2 ? read(*call->arguments[1], depth + 1) : std::nullopt;
    return b ? binary(call->op, *a, *b) : std::nullopt;
  }

  static std::optional<AffineExpr> binary(Op op, const AffineExpr& a, const AffineExpr& b) {
    if (op == Op::Add) return multiply_add(1, a, b);
    if (op == Op::Sub) return multiply_add(-1, b, a);
    if (a.terms.empty() && b.terms.empty()) {
      auto size = on_sizes(op, a.constant, b.constant);
      return size ? std::optional(AffineExpr{{}, *std::move(size), 1}) : std::nullopt;
    }
    const auto& [scale, scaled] = a.terms.empty() ? std::tie(a, b) : std::tie(b, a);
    const auto factor = scale.terms.empty() ? scale.constant.constant() : std::nullopt;
    return op == Op::Mul && factor ? multiply_add(*factor, scaled, {}) : std::nullopt;
  }

  bool fits(DType type, const AffineExpr& expr) const {
    const auto values = expr.constant.constant() ? numerator_over_box(*box_, expr) : std::nullopt;
    if (!values) return false;
    const auto bits = 8 * static_cast<int>(dtype_size(type));
    const __int128 span = __int128{1} << (is_signed(type) ? bits - 1 : bits);
    return values->hi < span && values->lo >= (is_signed(type) ? -span : 0);
  }

  std::optional<Box> box_;
};

class FormulaBuilder {
 public:
  explicit FormulaBuilder(const Statement* statement) : affine_(statement) {}

  /// Where nothing is decided, the formula allows everything.
  Formula build(const Expr& expr, bool holds) {
    if (const auto* literal = std::get_if<Literal>(&expr.node)) {
      const auto* truth = std::get_if<bool>(&literal->value);
      return truth ? (*truth == holds ? Formula::truth() : Formula::falsehood()) : undecided();
    }
    const auto* call = std::get_if<Call>(&expr.node);
    if (!call || comparisons_ > kMaxComparisons) return undecided();
    const auto& arguments = call->arguments;
    const auto of = [&](size_t i, bool wanted) { return build(*arguments[i], wanted); };
    if (call->op == Op::Not) return of(0, !holds);
    if (call->op == Op::And || call->op == Op::Or)
      return join((call->op == Op::And) == holds, of(0, holds), of(1, holds));
    if (call->op == Op::Select)
      return join(false, join(true, of(0, true), of(1, holds)), join(true, of(0, false), of(2, holds)));
    if (!is_comparison(call->op)) return undecided();
    if (arguments[0]->type == DType::Bool) {
      if (call->op != Op::Eq && call->op != Op::Ne) return undecided();
      const bool equal = (call->op == Op::Eq) == holds;
      return join(false, join(true, of(0, true), of(1, equal)), join(true, of(0, false), of(1, !equal)));
    }
    return compare(holds ? call->op : negated(call->op), *arguments[0], *arguments[1]);
  }

  bool decided() const { return decided_; }

  static Formula join(bool all, Formula a, Formula b) {
    const auto is_neutral = [&](const Formula& part) { return all ? part.is_true() : part.is_false(); };
    const auto decides = [&](const Formula& part) { return all ? part.is_false() : part.is_true(); };
    if (is_neutral(a) || decides(b)) return b;
    if (is_neutral(b) || decides(a)) return a;
    Formula result{all ? Formula::Kind::All : Formula::Kind::Any, {}, {}};
    for (auto* part : {&a, &b}) {
      if (part->kind == result.kind)
        std::move(part->parts.begin(), part->parts.end(), std::back_inserter(result.parts));
      else
        result.parts.push_back(std::move(*part));
    }
    return result;
  }

 private:
  Formula undecided() {
    decided_ = false;
    return Formula::truth();
  }

  static Op negated(Op op) {
    switch (op) {
      case Op::Eq:
        return Op::Ne;
      case Op::Ne:
        return Op::Eq;
      case Op::Lt:
        return Op::Ge;
      case Op::Ge:
        return Op::Lt;
      case Op::Gt:
        return Op::Le;
      default:
        return Op::Gt;
    }
  }

  Formula compare(Op op, const Expr& left, const Expr& right) {
    ++comparisons_;
    const auto a = affine_.read(left), b = affine_.read(right);
    // large - small - offset >= 0
    const auto at_least = [&](const AffineExpr& large, const AffineExpr& small, int64_t offset) {
      auto difference = multiply_add(-1, small, large);
      if (difference) difference->constant = difference->constant - offset;
      if (!difference || difference->constant.overflowed()) return undecided();
      if (const auto value = affine_.not_negative(*difference)) return *value ? Formula::truth() : Formula::falsehood();
      return Formula{Formula::Kind::NotNegative, *std::move(difference), {}};
    };
    if (!a || !b) return undecided();
    switch (op) {
      case Op::Lt:
        return at_least(*b, *a, 1);
      case Op::Le:
        return at_least(*b, *a, 0);
      case Op::Gt:
        return at_least(*a, *b, 1);
      case Op::Ge:
        return at_least(*a, *b, 0);
      case Op::Eq:
        return join(true, at_least(*a, *b, 0), at_least(*b, *a, 0));
      default:
        return join(false, at_least(*a, *b, 1), at_least(*b, *a, 1));
    }
  }

  AffineReader affine_;
  bool decided_ = true;
  int comparisons_ = 0;
};

void visit_reads(const Expr& expr, Path& path, const std::function<void(const Read&, const Path&)>& visit) {
  if (const auto* read = std::get_if<Read>(&expr.node)) {
    visit(*read, path);
    for (const auto& subscript : read->subscripts)
      if (const auto* nested = std::get_if<ExprPtr>(&subscript)) visit_reads(**nested, path, visit);
  } else if (const auto* call = std::get_if<Call>(&expr.node)) {
    for (size_t i = 0; i < call->arguments.size(); ++i) {
      const bool in_branch = call->op == Op::Select && i > 0;
      if (in_branch) path.push_back({call->arguments[0].get(), i == 1});
      visit_reads(*call->arguments[i], path, visit);
      if (in_branch) path.pop_back();
    }
  } else if (const auto* cast = std::get_if<Cast>(&expr.node)) {
    visit_reads(*cast->argument, path, visit);
  }
}

void collect_indices(const Formula& formula, std::set<int>& indices) {
  for (const auto& term : formula.expr.terms) indices.insert(term.first);
  for (const auto& part : formula.parts) collect_indices(part, indices);
}

void collect_guarding(const Statement& statement, const Expr& expr, std::set<int>& indices) {
  if (const auto* cast = std::get_if<Cast>(&expr.node)) return collect_guarding(statement, *cast->argument, indices);
  const auto* call = std::get_if<Call>(&expr.node);
  if (!call) return;
  for (const auto& argument : call->arguments) collect_guarding(statement, *argument, indices);
  if (call->op != Op::Select) return;
  if (const auto formula = formula_of(*call->arguments[0], true, &statement)) collect_indices(*formula, indices);
}

}  // namespace

void for_each_read_on_path(const Expr& value, const std::function<void(const Read&, const Path&)>& visit) {
  Path path;
  visit_reads(value, path, visit);
}

std::optional<Formula> formula_of(const Expr& condition, bool holds, const Statement* statement) {
  FormulaBuilder builder(statement);
  auto formula = builder.build(condition, holds);
  return builder.decided() ? std::optional(std::move(formula)) : std::nullopt;
}

Formula formula_of(const Path& path, const Statement* statement) {
  FormulaBuilder builder(statement);
  Formula all;
  for (const auto& [condition, holds] : path)
    all = FormulaBuilder::join(true, std::move(all), builder.build(*condition, holds));
  return all;
}

std::vector<int> indices_of(const Formula& formula) {
  std::set<int> indices;
  collect_indices(formula, indices);
  return {indices.begin(), indices.end()};
}

std::vector<int> guarding_indices(const Statement& statement) {
  std::set<int> indices;
  collect_guarding(statement, *statement.value, indices);
  return {indices.begin(), indices.end()};
}

bool holds_at(const Formula& formula, const std::vector<int64_t>& point) {
  const auto holds = [&](const Formula& part) { return holds_at(part, point); };
  if (formula.kind == Formula::Kind::All) return std::all_of(formula.parts.begin(), formula.parts.end(), holds);
  if (formula.kind == Formula::Kind::Any) return std::any_of(formula.parts.begin(), formula.parts.end(), holds);
  __int128 value = formula.expr.constant.constant().value();
  for (const auto& [index, coefficient] : formula.expr.terms) value += __int128{coefficient} * point[index];
  return value >= 0;
}

}  // namespace tile_tune::ir
