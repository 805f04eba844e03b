#include "frontend/ir/requirement.h"

#include <algorithm>

namespace tile_tune::ir {

bool is_requirement(const Constraint& constraint) {
  const auto& [expr, bound] = constraint;
  return expr.terms.empty() && expr.denominator == 1 && (!expr.constant.constant() || !bound.constant());
}

std::vector<Constraint> constraints_on_indices(const Statement& statement) {
  auto constraints = statement.constraints;
  std::erase_if(constraints, is_requirement);
  return constraints;
}

}  // namespace tile_tune::ir
