// Schedules that tile-tune is shipped with (configs/databases): what was tuned on machines of ours.
#pragma once

#include <optional>
#include <vector>

#include "db/database.h"
#include "engine/records/workload.h"
#include "engine/session/session.h"

namespace tile_tune::engine {

/// The best for the workload on the target, unless one of the user's databases refutes it.
Result<std::optional<db::BestRow>> curated_record(const Workload& workload, const codegen::Target& target,
                                                  std::vector<db::Database>& stack, const Session& session);

}  // namespace tile_tune::engine
