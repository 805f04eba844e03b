// Stored kernels for many sizes that are raced again here before they are used.
#pragma once

#include <atomic>
#include <optional>

#include "engine/sized/sized_workload.h"

namespace tile_tune::engine {

/// The stored kernels, rebuilt, verified and raced: those for many sizes against the default schedule's for all of
/// them, those for one size against the default schedule's there, too; at their own sizes, at the ends of ranges and at
/// some between. What is chosen then is stored for this target and version ("rechecked"). nullopt, with a warning, if
/// none of them is chosen: then the stored entry is refuted here. Where the database cannot be written, the outcome
/// holds for this once. `stop` set from outside: an error.
Result<std::optional<StoredEntry>> rechecked_entry(const SizedWorkload& workload, const StoredEntry& stored,
                                                   const codegen::Target& target, const Session& session,
                                                   const std::atomic<bool>& stop);

}  // namespace tile_tune::engine
