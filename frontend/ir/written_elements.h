// Which elements of its target a statement writes, and over which indices values are combined, for people: also where
// sizes are open, as far as that can be said then.
#pragma once

#include <optional>
#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// shared_indices() of a reduction (domain.h). Of symbolic sizes nothing is known: empty.
std::vector<int> shared_reduction_indices(const Program& program, const Statement& statement);

/// By index: whether values over it are combined.
std::vector<bool> combined_indices(const Program& program, const Statement& statement);

/// True also where sizes are open and each dimension is walked by an index of its own, from end to end, and nothing is
/// left out.
bool writes_every_element(const Program& program, const Statement& statement);

/// Smallest and largest value of a subscript.
struct Extremes {
  SizeExpr least, most;
};
/// Over the domain; nullopt where that has no points, or constraints are between symbolic sizes. Fails where the domain
/// is too complex (value_range()).
Result<std::optional<Extremes>> extremes(const Program& program, const Statement& statement,
                                         const AffineExpr& subscript);

}  // namespace tile_tune::ir
