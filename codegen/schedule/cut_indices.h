// Which indices a statement's constraints speak of, and whose ranges they cut short.
#pragma once

#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// By index of a bound statement: whether some run of the loops may have no valid term at the index's first or last
/// value, so that what is read along it may be less than its range says. `in_part`: indices of which a run has only a
/// part, anywhere in the range; of the others it has all values.
std::vector<bool> cut_indices(const ir::Statement& statement, const std::vector<bool>& in_part);

/// Whether some constraint of the statement speaks of the index.
bool is_constrained(const ir::Statement& statement, int index);

}  // namespace tile_tune::codegen
