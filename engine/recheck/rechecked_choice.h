// Schedules that are rechecked here before they are used.
#pragma once

#include <atomic>

#include "engine/records/schedule_choice.h"

namespace tile_tune::engine {

/// What stored_choice() takes, but nothing untimed: a stale record is rebuilt, verified and timed against the default
/// first (recheck/recheck.h), and so is one adapted from other sizes. What holds of a record is stored in the first
/// database, which makes it "rechecked"; where that cannot be written, the outcome holds for this once. What does not
/// hold gives way to the next rung. `stop` set from outside: the default, without a word.
Result<ScheduleChoice> rechecked_choice(const Workload& workload, const codegen::Target& target,
                                        std::vector<db::Database>& stack, const Session& session,
                                        const std::atomic<bool>& stop);

}  // namespace tile_tune::engine
