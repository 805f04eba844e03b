#include "frontend/ir/requirement.h"

#include <algorithm>

namespace tile_tune::ir {

bool is_requirement(const Constraint& constraint) {
  return constraint.expr.terms.empty() && (!constraint.expr.constant.constant() || !constraint.bound.constant());
}

std::vector<Constraint> constraints_on_indices(const Statement& statement) {
  auto constraints = statement.constraints;
  std::erase_if(constraints, is_requirement);
  return constraints;
}

}  // namespace tile_tune::ir
