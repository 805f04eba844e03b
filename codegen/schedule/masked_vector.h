// One vector that is longer than its loop.
//
// Five to seven neighbours of f32 are one vector of eight, whose last lanes read nothing, or what is inside, and are
// not stored: as two vectors of four, of which the second overlaps the first, they take twice the operations. 2048 x
// 256 by 256 x 7 took 68 us so and 52 in one vector (AVX2 on two Zen 4 cores, 2026-11-28).
#pragma once

#include <string>

#include "codegen/schedule/fusion.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

/// The stage's vectors run along an output loop, and are longer than that.
bool has_masked_vector(const Loops& loops, const NestSchedule& stage);

/// What is wrong with such a vector, in one sentence; empty if nothing is: the nest has one level, in which the vector
/// is a tile, and stores results that nothing was in before. `loops`: of one piece of the reduction.
std::string masked_vector_fault(const ir::Program& program, int statement, const Loops& loops,
                                const NestSchedule& stage);

/// The lanes beyond the loop can be left out of what the nest of `owner` stores: no other nest computes what its tiles
/// need, and its epilogue's results, too, are neighbours along the loop and new.
bool may_store_masked_vector(const ir::Program& program, const Schedule& schedule, const Fusion& fusion, int owner);

/// The loops as its tiles have them: as long as the vector.
Loops as_long_as_vector(Loops loops, const NestSchedule& stage);

/// The stage with vectors that its loop holds, if it has any.
NestSchedule without_masked_vector(const Loops& loops, NestSchedule stage);

}  // namespace tile_tune::codegen
