// The values of subscripts made of indices and literals alone, by going through the points.
//
// Private to frontend/ir.
#pragma once

#include <optional>

#include "frontend/ir/integer_set.h"

namespace tile_tune::ir {

/// Least and greatest value of a subscript that is an integer expression of indices and literals over the points of
/// its indices' ranges, and those of `where`, that meet it and the constraints on these indices alone. nullopt where
/// that is not to be had: it reads or takes other operations than + - * / % min max and negation, a value exceeds its
/// type, a divisor is 0, other relations tie its indices, there are more than 100,000 points, or none.
std::optional<Interval> values_by_points(const Statement& statement, const std::vector<Relation>& relations,
                                         const Expr& subscript, const Formula& where);

}  // namespace tile_tune::ir
