// IR expressions to Halide expressions, with the IR's semantics (frontend/ir/expr.h).
#pragma once

#include <functional>
#include <vector>

#include "Halide.h"
#include "codegen/lower/branches.h"
#include "codegen/lower/conversion.h"
#include "codegen/lower/values.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// Element type of a tensor, or of each part of a complex one.
Halide::Type halide_type(DType type);

/// Halide otherwise computes as if NaN and infinities did not occur: x * 0 would be 0. Only the product that a sum adds
/// up (`is_fused`) stays free, and the two of each part of a complex one, so that each becomes one fused multiply-add
/// with the sum; factors are strict, and no literal is one of them.
Values with_ieee_rules(const Values& value, bool is_fused);

/// The element of one operand at Halide subscripts in the IR's order; `number` counts reads in order of appearance.
using ReadOperand =
    std::function<Values(int number, const ir::Read& read, const std::vector<Halide::Expr>& subscripts)>;

/// Halide expression of a statement's value, where index i has the value indices[i].
Values to_halide(const ir::Expr& expr, const std::vector<Halide::Expr>& indices, const ReadOperand& read_operand,
                 const Branches& branches = {});

Halide::Expr to_halide(const ir::AffineExpr& expr, const std::vector<Halide::Expr>& indices);

/// `a` and `b` combined by an aggregation, and its identity.
Values combine(ir::Aggregation op, const Values& a, const Values& b);
/// `a`, `b` and `c`, of minima and maxima of floats.
Values combine(ir::Aggregation op, const Values& a, const Values& b, const Values& c);
Values identity(ir::Aggregation op, DType type);

}  // namespace tile_tune::codegen
