// What a statement sums: the factors of its terms, and which of them may be multiplied elsewhere.
#pragma once

#include <optional>
#include <vector>

#include "frontend/ir/program.h"
#include "frontend/plan/network.h"

namespace tile_tune::plan {

struct Factor {
  ir::ExprPtr value;
  std::vector<int> dimensions;  // numbers of indices, as its reads have them
  DType stored;                 // of what it reads first, else its own
  /// It has plain indices as subscripts and no condition: it may be multiplied, and summed, in a statement of its own.
  bool is_plain = false;
  bool divides = false;  // in the last step, not plain
  bool is_scalar() const { return is_plain && dimensions.empty(); }
};

struct Factors {
  std::vector<Factor> factors;  // as they stand, divisors last
  Group order;                  // of plain factors with indices: what parentheses group is a group
  /// Indices that the last statement has in any case: those of the target, of constraints, of other factors, and those
  /// of no factor.
  AxisSet held;
};

/// Of a sum over a product, with whatever signs and divisors; nullopt where its type forbids that products are summed
/// apart: integers that wrap in another width than their sum. Factors of floats that are narrower than their sum, or
/// whose product is cast to a wider type, are cast (but halves whose sum is f32, in which they are computed). What a
/// product of floats is divided by belongs to the factor that has all of its indices, where these are summed, and else
/// to the last step. Quotients of integers are factors as a whole.
std::optional<Factors> factors_of(const ir::Program& program, const ir::Statement& statement);

/// The same as if every factor were plain, nothing were left out and no number were rounded: what would be possible.
std::optional<Factors> idealized_factors_of(const ir::Program& program, const ir::Statement& statement);

}  // namespace tile_tune::plan
