// When the default schedule uses threads.
#pragma once

#include <optional>

#include "search/space/repair.h"

namespace tile_tune::search {

// Pieces a thread that bound the idle end of a parallel loop to an eighth of it on average.
constexpr int kPiecesPerThread = 4;

/// Cycles of one core, rather too few: vector operations, functions as what they compile like, or bytes from where they
/// are if those take longer.
double least_cycles(const StageContext& context, int lanes);

/// Whether several threads can be faster than one; `lanes`: of the stage's vectors.
bool is_worth_threads(const StageContext& context, int lanes);

/// Pieces of a stage for the threads to share out: 1 where one has it all.
int64_t pieces_wanted(const StageContext& context, int lanes);

/// How the reduction is cut for the threads, of a stage whose outputs are so many tiles; none where one thread has it
/// all, it cannot be cut so, or its outputs are tiles enough, or too many to be combined.
std::optional<codegen::ParallelReduction> cut_for_threads(const StageContext& context, int lanes, double tiles);

/// Cuts a reduction of a stage whose outputs give the threads too few tiles (sums of everything, or over the rows of a
/// tall matrix), or whose lanes only then read again what a near cache has. The stage must be repaired.
void run_reduction_in_parallel(const StageContext& context, codegen::NestSchedule& stage);

/// Puts short iterations of a parallel loop into groups, one after the other in each, where calling them would be a
/// good part of the work. The stage must be repaired, with no other in its loops.
void group_iterations(const StageContext& context, codegen::NestSchedule& stage);

}  // namespace tile_tune::search
