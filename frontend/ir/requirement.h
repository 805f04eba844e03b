// What a statement requires of the sizes, beside what its reads and writes show.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::ir {

/// Whether a constraint is one between sizes that have no numbers yet, without any index: it says nothing about
/// assignments. bind() refuses sizes that break it, "out-of-bounds", unless the statement's ranges are empty, and drops
/// it: bound programs have none. TC's `exists` makes them.
bool is_requirement(const Constraint& constraint);

/// The statement's constraints without its requirements.
std::vector<Constraint> constraints_on_indices(const Statement& statement);

}  // namespace tile_tune::ir
