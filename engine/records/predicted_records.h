// Schedules that were chosen by prediction alone, in the database: the options of a session without trials
// (db::kPredictedStrategy), so that they are never mixed with what was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "engine/records/workload.h"
#include "engine/session/session.h"
#include "search/evolve/predicted.h"

namespace tile_tune::engine {

/// Into the first database of the session; the id of the session that they are.
Result<std::string> store_predicted(const Workload& workload, const codegen::Target& target, uint64_t seed,
                                    const std::vector<search::Predicted>& best, const Session& session);

/// The best that was predicted last for this target by this version; nothing if there is none that fits.
Result<std::optional<codegen::Schedule>> predicted_schedule(const Workload& workload, const codegen::Target& target,
                                                            std::vector<db::Database>& stack);

}  // namespace tile_tune::engine
