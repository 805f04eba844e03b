#include "frontend/ir/grouping.h"

#include "frontend/ir/rewrite.h"

namespace tile_tune::ir {

bool is_product(const Expr& expr) {
  const auto* call = std::get_if<Call>(&expr.node);
  return call && call->op == (expr.type == DType::Bool ? Op::And : Op::Mul);
}

bool is_wider_float(DType type, DType than) {
  return is_float(type) && is_float(than) && dtype_size(type) > dtype_size(than);
}

ExprPtr grouped(const ExprPtr& product) { return make_expr(product->type, Cast{product}); }

ExprPtr product_of_group(const Expr& expr) {
  const auto* cast = std::get_if<Cast>(&expr.node);
  return cast && cast->argument->type == expr.type && is_product(*cast->argument) ? cast->argument : nullptr;
}

ExprPtr without_groups(const ExprPtr& value) {
  return rewrite(*value, {[](AffineExpr&) {},
                          [](Expr& expr) {
                            if (const auto product = product_of_group(expr)) expr = Expr(*product);
                          }});
}

ExprPtr with_groups_of_factors(const ExprPtr& value) {
  if (const auto product = product_of_group(*value)) return grouped(with_groups_of_factors(product));
  if (const auto* cast = std::get_if<Cast>(&value->node); cast && is_wider_float(value->type, cast->argument->type))
    return make_expr(value->type, Cast{with_groups_of_factors(cast->argument)});
  const auto* operation = std::get_if<Call>(&value->node);
  const bool passes = operation && (operation->op == Op::Neg || operation->op == Op::Div);
  if (!passes && !is_product(*value)) return without_groups(value);
  Call call = *operation;
  for (auto& argument : call.arguments)
    argument =
        passes && &argument != &call.arguments.front() ? without_groups(argument) : with_groups_of_factors(argument);
  return make_expr(value->type, std::move(call));
}

}  // namespace tile_tune::ir
