// What a valid schedule is. Schedules from a file or a database are checked before anything is built from them.
#pragma once

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

struct Target;

/// Most pieces of a parallel reduction: they are combined in straight-line code.
constexpr int kMostPieces = 64;
/// And most iterations that they leave over, whose code stands in that of each element: chosen, so that eight pieces of
/// any one loop may be.
constexpr int kMostLeftOver = 16;
/// A GPU's leave none.
constexpr int most_left_over(bool is_gpu) { return is_gpu ? 0 : kMostLeftOver; }
/// Of a GPU, whose multiprocessors (132 of an H100) want a block each and better several.
constexpr int kMostGpuPieces = 256;
/// And no more than that what they sum up, all of which lies in one buffer, stays below 2 GiB: Halide takes no larger
/// one.
int most_pieces(const Loops& loops, DType accumulator, const NestSchedule& stage);

/// The schedule fits this canonical, bound program: one sentence on the first thing that does not. Class Program.
Result<void> check(const ir::Program& program, const Schedule& schedule);
/// The same, and where the target is deterministic the schedule keeps to one order of sums: all that a kernel for it
/// asks of both.
Result<void> check_for(const Target& target, const ir::Program& program, const Schedule& schedule);
/// What check() asks of a stage with a nest of its own; `loops` has the extents over which that runs (Fusion::extents).
Result<void> check_stage(const ir::Program& program, const Loops& loops, int statement, const NestSchedule& stage);
/// Of such a stage: the statement has the dot products it asks for, and its other choices suit them.
Result<void> check_dot_product(const ir::Program& program, const Loops& loops, int statement,
                               const NestSchedule& stage);

/// The statement starts from nothing and reads no tensor that the program computes.
bool reads_inputs_alone(const ir::Program& program, const ir::Statement& statement);

/// Vector operations in one pass through the innermost unrolled body.
int64_t unrolled_operations(const Loops& loops, const NestSchedule& stage);

}  // namespace tile_tune::codegen
