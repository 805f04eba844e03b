// Affine subscripts and the ends of ranges.
#include <algorithm>

#include "frontend/ir/affine_arithmetic.h"
#include "frontend/tc/lower_expression.h"

namespace tile_tune::tc {
namespace {

using ir::AffineExpr;
using ir::Op;
using ir::SizeExpr;

AffineExpr constant(SizeExpr value) { return {{}, std::move(value), 1}; }

}  // namespace

Result<std::optional<AffineExpr>> Lowering::affine(const ast::Expr& expr) {
  return nested(expr.span, [&]() -> Result<std::optional<AffineExpr>> {
    TILE_TUNE_TRY(result, affine_dispatch(expr));
    if (result && result->constant.overflowed()) return errors::arithmetic_overflow(place(expr.span));
    if (result && !result->constant.constant() && result->constant.str().size() > kMaxSizeText)
      return errors::too_complicated(place(expr.span));
    return result;
  });
}

Result<std::optional<AffineExpr>> Lowering::affine_dispatch(const ast::Expr& expr) {
  if (const auto* number = std::get_if<ast::Number>(&expr.node)) {
    const auto* integer = std::get_if<int64_t>(&number->value);
    return integer ? std::optional(constant(*integer)) : std::nullopt;
  }
  if (const auto* identifier = std::get_if<ast::Identifier>(&expr.node)) return affine_name(identifier->name);
  if (const auto* cast = std::get_if<ast::Cast>(&expr.node)) {
    // Index arithmetic is exact, so a cast to a type that holds every index changes nothing.
    if (cast->type == DType::I32 || cast->type == DType::I64) return affine(*cast->argument);
    return std::nullopt;
  }
  if (const auto* operation = std::get_if<ast::Operation>(&expr.node))
    return affine_operation(operation->op, operation->arguments, expr.span);
  const auto& apply = std::get<ast::Apply>(expr.node);
  if (apply.arguments.empty()) return affine_name(apply.name.text);
  const auto* builtin = find_builtin(apply.name.text);
  if (builtin && (builtin->op == Op::Min || builtin->op == Op::Max) && apply.arguments.size() == 2)
    return affine_operation(builtin->op, apply.arguments, expr.span);
  return std::nullopt;
}

Result<std::optional<AffineExpr>> Lowering::affine_name(std::string_view name) {
  if (const auto let = scope_.let_numbers.find(name); let != scope_.let_numbers.end())
    return affine(*scope_.lets[let->second]->value);
  if (def_.sizes.contains(name) || def_.size_parameters.contains(name))
    return constant(SizeExpr::name(std::string(name)));
  if (const auto index = scope_.index_numbers.find(name); index != scope_.index_numbers.end())
    return AffineExpr::index(index->second);
  return std::nullopt;
}

Result<std::optional<AffineExpr>> Lowering::affine_operation(Op op, const std::vector<ast::ExprPtr>& arguments,
                                                             Span span) {
  const bool is_affine = op == Op::Add || op == Op::Sub || op == Op::Neg || ir::on_sizes(op, 1, 1);
  if (!is_affine) return std::nullopt;
  TILE_TUNE_TRY(first, affine(*arguments[0]));
  if (!first) return std::nullopt;
  std::optional<AffineExpr> result;
  if (op == Op::Neg) {
    result = ir::multiply_add(-1, *first, {});
    if (!result) return errors::arithmetic_overflow(place(span));
    return result;
  }
  TILE_TUNE_TRY(second, affine(*arguments[1]));
  if (!second) return std::nullopt;
  if ((op == Op::Div || op == Op::Mod) && second->terms.empty() && second->constant.constant() == 0)
    return errors::division_by_zero(place(span));
  if (op == Op::Add || op == Op::Sub) {
    result = op == Op::Add ? ir::multiply_add(1, *first, *second) : ir::multiply_add(-1, *second, *first);
  } else if (first->terms.empty() && second->terms.empty()) {
    return constant(*ir::on_sizes(op, first->constant, second->constant));
  } else if (op == Op::Mul && (first->terms.empty() || second->terms.empty())) {
    const auto& scale = first->terms.empty() ? *first : *second;
    const auto factor = scale.constant.constant();
    if (!factor) return std::nullopt;
    result = ir::multiply_add(*factor, first->terms.empty() ? *second : *first, {});
  } else {
    return std::nullopt;
  }
  if (!result) return errors::arithmetic_overflow(place(span));
  return result;
}

Result<void> Lowering::bound_quotient(const ast::Expr& expr, SubscriptBound bound) {
  const auto* operation = std::get_if<ast::Operation>(&expr.node);
  if (!operation || operation->op != Op::Div) return {};
  TILE_TUNE_TRY(divisor, affine(*operation->arguments[1]));
  const auto number = divisor && divisor->terms.empty() ? divisor->constant.constant() : std::nullopt;
  if (!number || *number <= 0) return {};
  TILE_TUNE_TRY(dividend, affine(*operation->arguments[0]));
  if (!dividend) return {};
  bound.expr = *dividend;
  bound.divisor = *number;
  add_bound(std::move(bound));
  return {};
}

void Lowering::add_bound(SubscriptBound bound) {
  const auto condition = ir::formula_of(path_);
  if (condition.is_false()) return;  // nothing is read
  const auto guarding = indices_of(condition);
  const auto& terms = bound.expr.terms;
  const bool guarded = std::any_of(terms.begin(), terms.end(), [&](const auto& term) {
    return std::binary_search(guarding.begin(), guarding.end(), term.first);
  });
  bound.is_undecided = std::any_of(path_.begin(), path_.end(), [](const ir::Branch& branch) {
    return !ir::formula_of(*branch.condition, branch.holds);
  });
  (guarded ? guarded_bounds_ : bounds_).push_back(std::move(bound));
}

Result<SizeExpr> Lowering::range_end(const ast::Expr& expr) {
  TILE_TUNE_TRY(linear, affine(expr));
  if (linear && linear->terms.empty()) return linear->constant;
  TILE_TUNE_CHECK(refuse_range_end(expr));
  return errors::not_a_range_end(place(expr.span));
}

// Names the part of a range's end that no range end may have.
Result<void> Lowering::refuse_range_end(const ast::Expr& expr) {
  return nested(expr.span, [&]() -> Result<void> {
    if (const auto* number = std::get_if<ast::Number>(&expr.node)) {
      if (std::holds_alternative<double>(number->value))
        return errors::not_an_integer(place(expr.span), "the end of a range", DType::F32);
      return {};
    }
    if (const auto* cast = std::get_if<ast::Cast>(&expr.node)) return refuse_range_end(*cast->argument);
    if (const auto* operation = std::get_if<ast::Operation>(&expr.node)) {
      for (const auto& argument : operation->arguments) TILE_TUNE_CHECK(refuse_range_end(*argument));
      return {};
    }
    const auto* apply = std::get_if<ast::Apply>(&expr.node);
    const auto name = apply ? apply->name.text : std::get<ast::Identifier>(expr.node).name;
    if (const auto let = scope_.let_numbers.find(name); let != scope_.let_numbers.end())
      return refuse_range_end(*scope_.lets[let->second]->value);
    if (def_.size_parameters.contains(name) || def_.sizes.contains(name)) return {};
    if (scope_.index_numbers.contains(name)) return errors::index_in_range_end(place(expr.span), name);
    if (def_.tensors.contains(name)) return errors::tensor_in_range_end(place(expr.span), name);
    if (!find_builtin(name)) return errors::undefined_name(place(expr.span), name);
    if (apply)
      for (const auto& argument : apply->arguments) TILE_TUNE_CHECK(refuse_range_end(*argument));
    return {};
  });
}

}  // namespace tile_tune::tc
