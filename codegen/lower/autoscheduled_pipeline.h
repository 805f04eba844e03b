// An automatic scheduler at work on a pipeline nobody has scheduled yet.
#pragma once

#include "Halide.h"
#include "codegen/lower/autoscheduler.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// Schedules every Func of the pipeline, whose inputs and outputs carry estimates of their extents. The plugin stands
/// beside Halide's library; throws Halide::CompileError where it is missing, and the scheduler's own errors.
void schedule_automatically(Halide::Pipeline& pipeline, AutoScheduler scheduler, const Halide::Target& halide,
                            const Target& target);

}  // namespace tile_tune::codegen
