// Several databases read as one: a user's own, and under it those a team or a vendor ships.
#pragma once

#include <optional>
#include <vector>

#include "db/database.h"

namespace tile_tune::db {

/// How near the record of a best schedule is to this tool on this target: 0 for both, 1 for the target, 2 for neither.
int staleness(const BestRow& best);

/// Whether a verdict says that the schedule is not to be taken: it fails, or is slower than the default.
bool refutes(const TrialRow& verdict);

/// The latest verdict on a schedule (Database::verdict) of all databases, if it refutes it: as if they were merged.
Result<std::optional<StoredTrial>> refutation(const std::vector<Database*>& stack, const ProgramRow& program,
                                              const TargetRow& target, const ToolRow& tool,
                                              const std::string& schedule_id);
std::vector<Database*> each_of(std::vector<Database>& stack);

/// The best of all: of the least staleness, of equals that of the first database. What their verdicts together refute
/// is not taken from any, nor what `acceptable` (if given) does not take.
Result<std::optional<BestRow>> best_of(std::vector<Database>& stack, const ProgramRow& program, const TargetRow& target,
                                       const ToolRow& tool, const Acceptable& acceptable = {});

}  // namespace tile_tune::db
