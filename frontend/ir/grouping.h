// Products in parentheses. `A * (B * C)` says in which order to multiply where `A * B * C` leaves it open, and a tree
// of products alone cannot tell the two apart: a product in parentheses is a cast to the type that it has. It computes
// nothing, and canonical forms, hashes and JSON keep it.
#pragma once

#include "frontend/ir/expr.h"

namespace tile_tune::ir {

/// Of bools "and", else "times".
bool is_product(const Expr& expr);
/// Whether a cast from `than` to `type` loses nothing: a product of one is as good as one of the other.
bool is_wider_float(DType type, DType than);

ExprPtr grouped(const ExprPtr& product);
/// The product in parentheses; null if the expression is none.
ExprPtr product_of_group(const Expr& expr);

/// Without parentheses; the second keeps those among the factors of a product, also of one that is cast to a wider
/// float.
ExprPtr without_groups(const ExprPtr& value);
ExprPtr with_groups_of_factors(const ExprPtr& value);

}  // namespace tile_tune::ir
