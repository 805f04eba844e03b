// What makes a stage valid and canonical that is mapped to a GPU.
#pragma once

#include <algorithm>

#include "codegen/schedule/gpu_shape.h"
#include "search/space/repair.h"

namespace tile_tune::search {

/// Elements between rows of what is staged: more leave no other banks.
inline constexpr int kMostElementsBetween = 8;

/// repair() for a GPU: tiles nest, blocks and grids are of a size that the device has, and what threads and blocks take
/// of registers and shared memory fits it.
codegen::NestSchedule repair_on_gpu(const StageContext& context, codegen::NestSchedule stage, Notes& notes);

/// Takes back decisions that GPUs do without (codegen::Traits::not_on_gpu), before anything else follows from them:
/// running totals have other loops.
void leave_out_on_gpu(codegen::NestSchedule& stage, Notes& notes);

inline codegen::DeviceLimits limits_of(const StageContext& context) { return codegen::device_limits(*context.target); }
inline codegen::GpuShape shape_of(const StageContext& context, const codegen::NestSchedule& stage) {
  return codegen::gpu_shape(*context.program, context.statement, context.loops, stage);
}

inline int64_t extent_of(const StageContext& context, int p) { return std::max<int64_t>(context.loops.output[p], 1); }
/// Threads of loop p and elements of each, as they fit the loop.
void set_tile(const StageContext& context, codegen::NestSchedule& stage, int p, int64_t elements, int64_t threads);

/// Operands that may be staged in shared memory: affine ones with dimensions that no constant takes the place of.
std::vector<int> stageable_operands(const StageContext& context);

}  // namespace tile_tune::search
