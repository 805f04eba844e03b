// What makes the schedule of a nest valid whose loops run on a GPU's blocks and threads.
#pragma once

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

/// A block of a reduction that takes more than these unrolled operations compiles for seconds (1024: 1.8 s to PTX and
/// through ptxas for two devices, gpu schedules of a product on Zen 3).
constexpr int64_t kMostGpuUnrolled = 2048;
/// Of the 255 registers that a thread can have: 16 x 8 sums of f32 took 212 in all.
constexpr int64_t kMostSumRegisters = 128;
/// As many banks as shared memory has.
constexpr int kMostPadding = 32;
/// On one multiprocessor of any device.
constexpr int kMostResidentBlocks = 32;

/// `loops` as check() has them: those of one run of the nest. Whether a device is large enough for it, check_for()
/// asks. Errors: invalid-schedule of class Program.
Result<void> check_gpu_stage(const ir::Program& program, const Loops& loops, int number, const NestSchedule& stage);

}  // namespace tile_tune::codegen
