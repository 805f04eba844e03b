// Several sums of each element in registers (NestSchedule::partial_sums, schedule.h).
//
// Iterations of the innermost reduction loop take turns with them, and the sums are combined at the end: where a tile
// has few elements, each addition would otherwise wait for the one before.
#pragma once

#include <string>
#include <vector>

#include "codegen/schedule/figure.h"

namespace tile_tune::codegen {

/// As many as hide the latency of additions to one element (costs::kInFlight).
constexpr int kMostPartialSums = 8;

/// The reduction loop whose iterations take turns: the innermost that has more than one. `loops` are those of one piece
/// of a parallel reduction, of which there must be one.
int loop_of_turns(const Loops& loops, const NestSchedule& stage);

/// What is wrong with them, in one sentence; empty if nothing is: only sums that stay in registers throughout, in no
/// lanes, can be several, of an innermost loop that is not unrolled and as long.
std::string partial_sums_fault(const ir::Program& program, const Loops& loops, const NestSchedule& stage);

/// How many there are.
std::vector<Figure> partial_sums_figures();

}  // namespace tile_tune::codegen
