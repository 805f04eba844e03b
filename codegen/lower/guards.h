// Conditions under which an assignment counts, and under which an element is written at all.
#pragma once

#include <optional>
#include <vector>

#include "Halide.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// Every constraint of the statement holds for these values of its indices.
Halide::Expr constraints_hold(const ir::Statement& statement, const std::vector<Halide::Expr>& indices);

/// Whether some values of the reduction indices satisfy the constraints, in terms of the output indices (entries of
/// reduction indices are not looked at). nullopt where one constraint ties two reduction indices together: that takes a
/// search.
std::optional<Halide::Expr> some_assignment_holds(const ir::Statement& statement,
                                                  const std::vector<Halide::Expr>& indices);

/// The assignment of the indices that the elements of a target stem from: position o of the target is written by the
/// indices whose subscripts are o, if there are such. Each subscript tells its pivots (ir/gather.h), or only tests
/// indices that are known by then (diagonals). `elements`: o.
struct Assignment {
  std::vector<Halide::Expr> indices;  // by number, inside their ranges; undefined for reductions
  Halide::Expr exists;
};
Assignment assignment_of(const ir::Statement& statement, const std::vector<Halide::Expr>& elements);

}  // namespace tile_tune::codegen
