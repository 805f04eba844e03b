// Statements turned around: from "where does each assignment write" to "what does each element gather".
//
// Kernels compute element by element, so the loops of a statement must be the target's dimensions. Where the target's
// subscripts are more than an index of their own each, the index space is changed by integer lattices: first to the
// points at which every quotient is an integer (no subscript then has a denominator), then by a unimodular change of
// variables that puts the target's subscripts into column Hermite form. `O(i+j) += A(i)*B(j)` becomes
// `O(o) += A(o-j)*B(j)` with 0 <= o-j < |A|. Source: Schrijver, Theory of Linear and Integer Programming, chapter 4.
#pragma once

#include <optional>
#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// True if each subscript of the target is an index of its own with coefficient 1, plus a constant, and no affine
/// subscript of the statement has a denominator.
bool is_plain(const Statement& statement);

/// An index that an element tells, and its factor in the subscript.
struct Pivot {
  int index;
  int64_t factor;  // at least 1
};

/// By subscript of a bound statement's target, the indices that it uses first, largest factor first: each factor is
/// larger than the others after it reach, so that an element determines one value of each. nullopt if the statement is
/// not in gather form.
std::optional<std::vector<std::vector<Pivot>>> pivots_of(const Statement& statement);

/// A bound statement with the same meaning in gather form: no affine subscript has a denominator, and pivots_of() tells
/// the indices of each subscript, which otherwise has indices of earlier subscripts and a constant. Most have one pivot
/// with factor 1 (then they are that index alone); `O(2*i)` has the factor 2, `O(2*i + k)` a quotient and a phase
/// (phases.h), `O(i, i)` none on the right. Ranges are the tightest box, constraints are what the box
/// does not imply. A plain statement stays as it is, except for constraints that its box implies. Indices keep their
/// names where they are kept. Fails as infer_domain() does, and where coefficients leave 64 bits.
Result<Statement> gather_form(const Program& program, const Statement& statement);

}  // namespace tile_tune::ir
