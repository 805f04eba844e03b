// What makes the schedule of a nest valid whose loops run on a GPU's blocks and threads.
#pragma once

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

/// As many banks as shared memory has.
constexpr int kMostPadding = 32;
/// On one multiprocessor of any device.
constexpr int kMostResidentBlocks = 32;

/// `loops` as check() has them: those of one run of the nest. Whether a device is large enough for it, check_for()
/// asks. Errors: invalid-schedule of class Program.
Result<void> check_gpu_stage(const ir::Program& program, const Loops& loops, int number, const NestSchedule& stage);

}  // namespace tile_tune::codegen
