// Range inference: the largest box of index values for which every read is in bounds.
//
// Symbolic intervals over size expressions, solved in rounds (docs/tc.md, "Ranges"): in each round
// every variable that is the only unsolved one of some bound gets the largest interval for which these bounds
// hold whatever the solved variables are; several bounds intersect with min and max.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/ir/program.h"
#include "frontend/tc/source_text.h"

namespace tile_tune::tc {

/// 0 <= floor(expr / divisor) < extent: what a subscript of a dimension asserts.
struct SubscriptBound {
  ir::AffineExpr expr;
  int64_t divisor = 1;  // positive
  ir::SizeExpr extent;
  std::string reason;  // "A(i,j), dimension 0"
  Span place;          // of the subscript
  /// Below a condition that guards nothing, since indices and sizes do not decide it.
  bool is_undecided = false;
};

/// An index variable whose range may be known.
struct Variable {
  ir::Index index;
  bool solved = false;
};

/// Solves what can be solved, in rounds; linear in the number of occurrences. Solved variables stay as they are.
/// Returns a variable that so many different expressions bound that solving it was given up.
std::optional<int> infer_ranges(std::vector<Variable>& variables, const std::vector<SubscriptBound>& bounds);

/// The range that the bounds alone give one variable when all others are solved; nullopt if none bounds it
/// or too many do.
std::optional<ir::Index> range_from_bounds(int variable, const std::vector<Variable>& variables,
                                           const std::vector<SubscriptBound>& bounds);

/// Smallest and largest value of an expression over the (solved) ranges.
struct Interval {
  ir::SizeExpr min, max;
};
Interval value_range(const ir::AffineExpr& expr, const std::vector<Variable>& variables);

}  // namespace tile_tune::tc
