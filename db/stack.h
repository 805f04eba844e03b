// Several databases read as one: a user's own, and under it those a team or a vendor ships.
#pragma once

#include <optional>
#include <vector>

#include "db/database.h"

namespace tile_tune::db {

/// How near the record of a best schedule is to this tool on this target: 0 for both, 1 for the target, 2 for neither.
int staleness(const BestRow& best);

/// The best of all: of the least staleness, of equals that of the first database. What one database refutes
/// (Database::refutation) is not taken from another, nor what `acceptable` (if given) does not take.
Result<std::optional<BestRow>> best_of(std::vector<Database>& stack, const ProgramRow& program, const TargetRow& target,
                                       const ToolRow& tool, const Acceptable& acceptable = {});

}  // namespace tile_tune::db
