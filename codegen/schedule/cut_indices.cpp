#include "codegen/schedule/cut_indices.h"

#include <algorithm>
#include <utility>

namespace tile_tune::codegen {
namespace {

struct Ends {
  int64_t least, most;
};

Ends ends_of(const ir::Statement& statement, const std::pair<int, int64_t>& term) {
  const auto range = ir::range(statement.indices[static_cast<size_t>(term.first)]);
  const auto [least, most] = std::minmax({term.second * range.lo, term.second * (range.hi - 1)});
  return {least, most};
}

// Whether the constraint may fail for every value of the other indices that a run has: of those in `in_part` it may
// have but the worst.
bool cuts(const ir::Statement& statement, const ir::Constraint& constraint, int index,
          const std::vector<bool>& in_part) {
  const int64_t constant = constraint.expr.constant.constant().value();
  Ends sure{constant, constant};  // the lowest and the highest position that are sure to occur
  for (const auto& term : constraint.expr.terms) {
    const auto [least, most] = ends_of(statement, term);
    const bool worst = term.first == index || in_part[static_cast<size_t>(term.first)];
    sure.least += worst ? most : least;
    sure.most += worst ? least : most;
  }
  return sure.most < 0 || sure.least >= constraint.bound.constant().value();
}

}  // namespace

// What one constraint cuts short is a part to the next one.
std::vector<bool> cut_indices(const ir::Statement& statement, const std::vector<bool>& in_part) {
  std::vector<bool> cut(statement.indices.size()), partial = in_part;
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& constraint : statement.constraints)
      for (const auto& term : constraint.expr.terms) {
        const auto index = static_cast<size_t>(term.first);
        if (cut[index] || !cuts(statement, constraint, term.first, partial)) continue;
        cut[index] = partial[index] = changed = true;
      }
  }
  return cut;
}

bool is_constrained(const ir::Statement& statement, int index) {
  return std::any_of(statement.constraints.begin(), statement.constraints.end(),
                     [&](const ir::Constraint& constraint) { return constraint.expr.coefficient(index) != 0; });
}

}  // namespace tile_tune::codegen
