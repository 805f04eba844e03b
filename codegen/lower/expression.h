// IR expressions to Halide expressions, with the IR's semantics (frontend/ir/expr.h).
#pragma once

#include <functional>
#include <vector>

#include "Halide.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

Halide::Type halide_type(DType type);

/// The element of one operand at Halide subscripts in the IR's order; `number` counts reads in order of appearance.
using ReadOperand =
    std::function<Halide::Expr(int number, const ir::Read& read, const std::vector<Halide::Expr>& subscripts)>;

/// Halide expression of a statement's value, where index i has the value indices[i].
Halide::Expr to_halide(const ir::Expr& expr, const std::vector<Halide::Expr>& indices, const ReadOperand& read_operand);

Halide::Expr to_halide(const ir::AffineExpr& expr, const std::vector<Halide::Expr>& indices);

/// `a` and `b` combined by an aggregation, and its identity.
Halide::Expr combine(ir::Aggregation op, const Halide::Expr& a, const Halide::Expr& b);
Halide::Expr identity(ir::Aggregation op, DType type);

}  // namespace tile_tune::codegen
