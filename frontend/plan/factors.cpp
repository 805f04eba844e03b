#include "frontend/plan/factors.h"

#include <algorithm>
#include <utility>

#include "frontend/ir/grouping.h"

namespace tile_tune::plan {
namespace {

bool is_condition(ir::Op op) {
  return op == ir::Op::Select || op == ir::Op::And || op == ir::Op::Or || op == ir::Op::Not || ir::is_comparison(op);
}

bool has_condition(const ir::Expr& expr) {
  if (const auto* cast = std::get_if<ir::Cast>(&expr.node)) return has_condition(*cast->argument);
  const auto* call = std::get_if<ir::Call>(&expr.node);
  return call && (is_condition(call->op) || std::any_of(call->arguments.begin(), call->arguments.end(),
                                                        [](const auto& part) { return has_condition(*part); }));
}

std::optional<int> plain_index(const ir::Subscript& subscript) {
  const auto* affine = std::get_if<ir::AffineExpr>(&subscript);
  if (!affine || affine->terms.size() != 1 || affine->terms[0].second != 1) return std::nullopt;
  if (affine->denominator != 1 || affine->constant != ir::SizeExpr(0)) return std::nullopt;
  return affine->terms[0].first;
}

Factor factor_of(const ir::Program& program, const ir::ExprPtr& value) {
  Factor factor{value, {}, value->type, !has_condition(*value)};
  bool first = true;
  ir::for_each_read(*value, [&](const ir::Read& read) {
    if (std::exchange(first, false)) factor.stored = program.tensors[static_cast<size_t>(read.tensor)].type;
    for (const auto& subscript : read.subscripts) {
      const auto index = plain_index(subscript);
      factor.is_plain = factor.is_plain && index;
      if (index) factor.dimensions.push_back(*index);
    }
  });
  for (const int index : ir::indices_of(*value))
    if (std::find(factor.dimensions.begin(), factor.dimensions.end(), index) == factor.dimensions.end())
      factor.dimensions.push_back(index);
  return factor;
}

/// The product without parentheses, signs and divisors; null if there is none of several factors.
ir::ExprPtr product_inside(const ir::ExprPtr& expr) {
  if (ir::is_product(*expr)) return expr;
  if (const auto product = ir::product_of_group(*expr)) return product;
  const auto* call = std::get_if<ir::Call>(&expr->node);
  if (!call || (call->op != ir::Op::Neg && call->op != ir::Op::Div)) return nullptr;
  return call->arguments.front()->type == expr->type ? product_inside(call->arguments.front()) : nullptr;
}

/// `type(a * b)` as `type(a) * type(b)`, in parentheses where it stood in some.
ir::ExprPtr widened(const ir::ExprPtr& expr, DType type) {
  if (const auto* cast = std::get_if<ir::Cast>(&expr->node);
      cast && ir::is_wider_float(expr->type, cast->argument->type))
    return widened(cast->argument, type);
  if (!product_inside(expr)) return ir::make_expr(type, ir::Cast{expr});
  if (const auto product = ir::product_of_group(*expr)) return ir::grouped(widened(product, type));
  ir::Call call = std::get<ir::Call>(expr->node);
  for (auto& argument : call.arguments) argument = widened(argument, type);
  return ir::make_expr(type, std::move(call));
}

/// With products that are cast to a wider float as products of that type, in parentheses.
ir::ExprPtr with_wide_products(const ir::ExprPtr& expr) {
  if (const auto product = ir::product_of_group(*expr)) return ir::grouped(with_wide_products(product));
  if (const auto* cast = std::get_if<ir::Cast>(&expr->node)) {
    if (!ir::is_wider_float(expr->type, cast->argument->type) || !product_inside(cast->argument)) return expr;
    const auto wide = widened(with_wide_products(cast->argument), expr->type);
    return ir::is_product(*wide) ? ir::grouped(wide) : wide;
  }
  const auto* operation = std::get_if<ir::Call>(&expr->node);
  if (!operation || !(ir::is_product(*expr) || operation->op == ir::Op::Neg || operation->op == ir::Op::Div))
    return expr;
  ir::Call call = *operation;
  for (auto& argument : call.arguments) argument = with_wide_products(argument);
  return ir::make_expr(expr->type, std::move(call));
}

class Collector {
 public:
  Collector(const ir::Program& program, DType type, bool idealized)
      : program_(program), type_(type), idealized_(idealized) {}

  void collect(const ir::ExprPtr& expr, Group& group) {
    const auto product = expr->type == type_ ? product_inside(expr) : nullptr;
    const auto* call = std::get_if<ir::Call>(&expr->node);
    if (product == expr) {
      for (const auto& argument : call->arguments) collect(argument, group);
    } else if (product && call && call->op == ir::Op::Neg) {
      const size_t first = factors_.size();
      collect(call->arguments.front(), group);
      factors_[first].value = ir::make_expr(type_, ir::Call{ir::Op::Neg, {factors_[first].value}});
    } else if (product && call && (is_float(type_) || idealized_)) {
      collect(call->arguments[0], group);
      divisors_.push_back(factor(call->arguments[1]));
    } else if (product && !call) {
      Group inner;
      const size_t before = factors_.size();
      collect(product, inner);
      add_group(std::move(inner), before, group);
    } else {
      factors_.push_back(factor(expr));
      if (!factors_.back().is_plain || factors_.back().is_scalar()) return;
      group.members.push_back({static_cast<int>(factors_.size()) - 1, {}});
    }
  }

  /// Those of divisors that stand alone behind the others. `target`: the indices of the sum's elements.
  std::vector<Factor> factors(const AxisSet& target) && {
    for (auto& divisor : divisors_) {
      if (auto* owner = owner_of(divisor, target)) {
        owner->value = ir::make_expr(type_, ir::Call{ir::Op::Div, {owner->value, divisor.value}});
        continue;
      }
      divisor.divides = true;
      divisor.is_plain = false;
      factors_.push_back(std::move(divisor));
    }
    return std::move(factors_);
  }

 private:
  Factor factor(const ir::ExprPtr& expr) const {
    Factor result = factor_of(program_, expr);
    result.is_plain = result.is_plain || idealized_;
    return result;
  }

  /// The factor that is divided by it: the smallest that has all its indices, if one of these is summed.
  Factor* owner_of(const Factor& divisor, const AxisSet& target) {
    const auto& wanted = divisor.dimensions;
    if (!divisor.is_plain || std::all_of(wanted.begin(), wanted.end(), [&](int i) { return target.contains(i); }))
      return nullptr;
    Factor* owner = nullptr;
    for (auto& factor : factors_) {
      const auto has = [&](int i) {
        return std::find(factor.dimensions.begin(), factor.dimensions.end(), i) != factor.dimensions.end();
      };
      if (!factor.is_plain || factor.value->type != type_ || !std::all_of(wanted.begin(), wanted.end(), has)) continue;
      if (!owner || factor.dimensions.size() < owner->dimensions.size()) owner = &factor;
    }
    return owner;
  }

  /// A group of which a part has to stay stays as a whole.
  void add_group(Group inner, size_t before, Group& group) {
    const auto begin = factors_.begin() + static_cast<std::ptrdiff_t>(before);
    if (!std::all_of(begin, factors_.end(), [](const Factor& factor) { return factor.is_plain; }))
      std::for_each(begin, factors_.end(), [](Factor& factor) { factor.is_plain = false; });
    else if (inner.members.size() == 1)
      group.members.push_back(std::move(inner.members.front()));
    else if (!inner.members.empty())
      group.members.push_back(std::move(inner));
  }

  const ir::Program& program_;
  DType type_;
  bool idealized_;
  std::vector<Factor> factors_, divisors_;
};

/// Products of halves are computed in f32.
bool is_computed_in(DType product, DType accumulator) {
  const bool is_half = product == DType::F16 || product == DType::BF16;
  return product == accumulator || (is_half && accumulator == DType::F32);
}

/// What is summed, as a product of floats that are as wide as their sum.
ir::ExprPtr terms_of(const ir::Statement& statement) {
  const auto terms = with_wide_products(statement.value);
  const DType sum = statement.accumulator;
  return ir::is_wider_float(sum, terms->type) && !is_computed_in(terms->type, sum) ? widened(terms, sum) : terms;
}

/// Indices of the statement that no factor has: every term is added once for each of their values.
AxisSet repeating(const ir::Statement& statement, const std::vector<Factor>& factors) {
  AxisSet result;
  for (size_t i = 0; i < statement.indices.size(); ++i) result.insert(static_cast<int>(i));
  for (const auto& factor : factors)
    for (const int index : factor.dimensions) result.erase(index);
  return result;
}

std::optional<Factors> collected(const ir::Program& program, const ir::Statement& statement, bool idealized) {
  if (statement.op != ir::Aggregation::Sum) return std::nullopt;
  const auto terms = terms_of(statement);
  if (!product_inside(terms)) return std::nullopt;
  if (!idealized && !is_computed_in(terms->type, statement.accumulator)) return std::nullopt;
  Factors result;
  const auto hold = [&](const ir::AffineExpr& expr) {
    for (const auto& [index, coefficient] : expr.terms) result.held.insert(index);
  };
  for (const auto& subscript : statement.subscripts) hold(subscript);
  Collector collector(program, terms->type, idealized);
  collector.collect(terms, result.order);
  result.factors = std::move(collector).factors(result.held);
  while (result.order.members.size() == 1 && result.order.members.front().operand < 0)
    result.order = Group(result.order.members.front());
  result.held.merge(repeating(statement, result.factors));
  if (!idealized)
    for (const auto& constraint : statement.constraints) hold(constraint.expr);
  for (const auto& factor : result.factors)
    if (!factor.is_plain) result.held.insert(factor.dimensions.begin(), factor.dimensions.end());
  return result;
}

}  // namespace

std::optional<Factors> factors_of(const ir::Program& program, const ir::Statement& statement) {
  return collected(program, statement, false);
}

std::optional<Factors> idealized_factors_of(const ir::Program& program, const ir::Statement& statement) {
  return collected(program, statement, true);
}

}  // namespace tile_tune::plan
