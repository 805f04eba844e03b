// How the loops of a nest lie on a GPU: on the dimensions of its grid and of its blocks, and in a thread's registers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
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
/// Threads that share a reduction have a dimension of their own beside these.
GpuDimensions block_dimensions(const NestSchedule& stage);

/// How the threads that share a reduction lie along its loops, by number: the innermost loops get one for each
/// iteration (up to a power of two), until there are no more. The outermost loop with several threads is the one along
/// which they take turns: the loops with threads inside of it are a single iteration for each.
struct ReductionShares {
  std::vector<int64_t> threads;
  int in_turns = -1;  // -1: no thread shares

  bool is_shared(int r) const { return threads[static_cast<size_t>(r)] > 1; }
};
/// `loops` of one piece, as in all that follows.
ReductionShares reduction_shares(const Loops& loops, const NestSchedule& stage);
/// As many threads as can share a reduction: each then has one iteration.
int64_t most_reduction_threads(const Loops& loops);
/// How many partial sums of an element are left after each step of the tree that adds up those of `threads` threads.
std::vector<int64_t> reduction_steps(int64_t threads);
/// Neighbours of a warp share a reduction, since along its innermost loop an operand has its neighbours in memory; else
/// its threads are the slowest dimension of a block.
bool shares_come_first(const ir::Program& program, const Loops& loops, const NestSchedule& stage);

/// Blocks of the grid along x, y and z. Pieces of a parallel reduction have a dimension of their own, where there is
/// one left.
std::array<int64_t, kGpuDimensions> grid_extents(const Loops& loops, const NestSchedule& stage);
/// Threads of a block along x, y and z.
std::array<int64_t, kGpuDimensions> block_extents(const ir::Program& program, const Loops& loops,
                                                  const NestSchedule& stage);

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

/// The same as they are stored, the fastest first: with padding, and of a size that is a multiple of 16 bytes. All
/// copies of a block lie in one allocation, and Halide takes vectors in each for as aligned as if it began there.
std::vector<int64_t> stored_sides(const ir::Program& program, int statement, const Loops& loops,
                                  const NestSchedule& stage, const Packing& packing);
/// How the threads of a block make such a copy: so many neighbours in memory at a time, in turns.
struct CopyTurns {
  int lanes = 1;
  int64_t turns = 1;  // of a thread; in the last one some threads may have nothing to do
  bool exact = true;  // all have
};
CopyTurns copy_turns(const ir::Program& program, const Loops& loops, const NestSchedule& stage, const Packing& packing);
/// Copies of a thread that are made without a loop.
constexpr int64_t kMostUnrolledCopies = 16;
/// Blocks of the reduction between which something is staged.
int64_t reduction_trips(const Loops& loops, const NestSchedule& stage);
/// Why the next block of the reduction cannot be loaded while the present one is computed, in one sentence; empty if it
/// can.
std::string pipeline_fault(const ir::Program& program, const Loops& loops, const NestSchedule& stage);

/// What elements of a staged operand are there: halves are widened once, where nothing else is made of them.
DType staged_type(const ir::Program& program, int statement, const Operand& operand);

}  // namespace tile_tune::codegen
