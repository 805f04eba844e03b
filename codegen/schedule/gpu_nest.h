// How the loops of a nest lie on a GPU: on the dimensions of its grid and of its blocks, and in a thread's registers.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

/// Grids and blocks have as many.
constexpr size_t kGpuDimensions = 3;

/// Output loops of one level by the dimension that they run on, the fastest first. Those of a dimension, if more than
/// one, are fused: the first is the outermost. Loops of one iteration stand on none.
using GpuDimensions = std::vector<std::vector<int>>;

/// Blocks of the grid, and threads of a block, along output loop p.
int64_t blocks_of_loop(const Loops& loops, const NestSchedule& stage, int p);
int64_t threads_of_loop(const NestSchedule& stage, int p);

GpuDimensions grid_dimensions(const Loops& loops, const NestSchedule& stage);
GpuDimensions block_dimensions(const NestSchedule& stage);

/// Of a block, and elements that each of them computes.
int64_t gpu_threads(const NestSchedule& stage);
int64_t thread_elements(const NestSchedule& stage);

/// How many of a thread's elements lie side by side along output loop p.
int64_t piece_along(const NestSchedule& stage, int p);

/// The last tile along output loop p reaches beyond the border: it is computed in part.
bool has_last_tile(const Loops& loops, const NestSchedule& stage, int p);

/// Sums are kept for a whole block, each thread's part by itself, since operands are staged between blocks of the
/// reduction or since a thread's elements do not lie side by side; else a thread has its own alone.
bool sums_by_block(const NestSchedule& stage);

/// Sides, by dimension of the operand, of what a packing stages at a time; `loops` of one piece.
std::vector<int64_t> staged_sides(const Loops& loops, const NestSchedule& stage, const Operand& operand);

}  // namespace tile_tune::codegen
