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
  bool is_scalar() const { return is_plain && dimensions.empty(); }
};

struct Factors {
  std::vector<Factor> factors;  // as they stand
  Group order;                  // of plain factors with indices: what parentheses group is a group
  /// Indices that the last statement has in any case: those of the target, of constraints and of other factors.
  AxisSet held;
};

/// Of a sum over a product; nullopt where its type forbids that products are summed apart: integers that wrap in
/// another width than their sum, floats narrower than their sum (but halves, which are computed in f32).
std::optional<Factors> factors_of(const ir::Program& program, const ir::Statement& statement);

}  // namespace tile_tune::plan
