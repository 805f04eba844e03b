// The search itself, in worker processes.
#pragma once

#include <string>

#include "engine/tuning/knowledge.h"
#include "search/workers/workers.h"

namespace tile_tune::engine {

/// Candidates of a program too large to be checked in full are checked in full at small sizes, whichever form of the
/// workload they are of. `program` is the workload's with symbolic sizes, which `sizes` gave values.
search::SmallVariant small_variant_of(const ir::Program& program, const ir::Sizes& sizes, const Workload& workload,
                                      const codegen::Target& target);

/// What a search ends with whose time was over before its default schedule was measured: that schedule stands.
search::TuneReport unmeasured_default(const codegen::Schedule& schedule);

/// From what is known, with the budget of its session. Every trial goes to the sink as soon as it is known.
/// `executable`: Session::executable.
Result<search::TuneReport> search_schedules(const Workload& workload, const search::Space& space,
                                            const search::SmallVariant& small_variant, const Knowledge& known,
                                            search::TrialSink& sink, const Watch& watch, const std::string& executable);

}  // namespace tile_tune::engine
