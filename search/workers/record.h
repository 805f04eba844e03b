// What workers said of a kernel, written into its measurement.
#pragma once

#include "search/judge/reply.h"
#include "search/judge/trial.h"
#include "search/timing/timing.h"

namespace tile_tune::search {

void record_fault(Measurement& measurement, const Reply& reply);

/// What a race or the finals say of a kernel, beside what was known of it. `alone`: nothing else ran meanwhile.
void record_timing(Measurement& measurement, const Timing& timing, bool alone);

/// `from_memory`: the program's tensors are larger than the last cache, so that memory bandwidth limits it at all.
void record_intervals(Measurement& measurement, const Timing& timing, bool from_memory, uint64_t seed);

/// The default is as fast as itself, whatever its rounds were.
void record_default(Measurement& measurement);

}  // namespace tile_tune::search
