// Statements turned around: from "where does each assignment write" to "what does each element gather".
//
// Kernels compute element by element, so the loops of a statement must be the target's dimensions. Where the target's
// subscripts are more than an index of their own each, the index space is changed by integer lattices: first to the
// points at which every quotient is an integer (no subscript then has a denominator), then by a unimodular change of
// variables that puts the target's subscripts into column Hermite form. `O(i+j) += A(i)*B(j)` becomes
// `O(o) += A(o-j)*B(j)` with 0 <= o-j < |A|. Source: Schrijver, Theory of Linear and Integer Programming, chapter 4.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// True if each subscript of the target is an index of its own with coefficient 1, plus a constant, and no affine
/// subscript of the statement has a denominator.
bool is_plain(const Statement& statement);

/// A bound statement with the same meaning in gather form: no affine subscript has a denominator, and subscript p of
/// the target is `h * index + (terms of indices that are pivots of earlier subscripts) + constant`, h >= 1, where
/// `index` is its pivot, or has no pivot of its own (diagonals: `O(i, i)`, constants). h = 1 wherever that is possible,
/// with the terms of earlier pivots and the constant 0 then. Ranges are the tightest box, constraints are what the box
/// does not imply. A plain statement stays as it is, except for constraints that its box implies. Indices keep their
/// names where they are kept. Fails as infer_domain() does, and where coefficients leave 64 bits.
Result<Statement> gather_form(const Program& program, const Statement& statement);

}  // namespace tile_tune::ir
