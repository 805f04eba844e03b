// A rough time for a stage from its facts, for the time before anything was measured: which of many random schedules
// are tried first. The learned model sees it as one more feature.
#pragma once

#include "codegen/target/target.h"
#include "search/predict/facts.h"

namespace tile_tune::predict {

/// Cycles of all threads together for one iteration of the stage: the slowest of arithmetic, loads and each level of
/// memory, times what the schedule wastes. Meant to rank schedules of one program, not to be right.
double estimated_cycles(const StageFacts& facts, const codegen::Target& target);

}  // namespace tile_tune::predict
