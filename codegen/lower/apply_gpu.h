// Turns a NestSchedule whose loops run on a GPU into Halide directives. The nest, outermost first:
//
//   grid { order[0] loops } block { order[1] loops } a thread's elements (vector, unrolled)
//
// Sums live in registers inside the innermost thread loop, or at block level (sums_by_block), where each update runs in
// thread loops of its own, and ShrinkRegisters leaves of them the thread's own part. Operands are staged in shared
// memory by all threads of a block, inside the loops over blocks of the reduction. Threads that share a reduction have
// sums of their own in registers, and add them up in shared memory.
#pragma once

#include "codegen/lower/apply.h"

namespace tile_tune::codegen {

/// As apply(), of a schedule with a GpuMapping.
Nest apply_gpu(const NestSchedule& schedule, const Stage& stage, const NestPlacement& placement);

/// Directives of a Func outside of nests, all of its definitions: a thread computes an element. `vars`: its arguments,
/// but for those that are unrolled; if not given, all.
void map_elements(Halide::Func func, const std::vector<Halide::Var>& vars);
void map_elements(Halide::Func func);

}  // namespace tile_tune::codegen
