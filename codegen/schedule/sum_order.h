// The order in which a reduction combines its terms. Sums and products of floats round differently in another one.
#pragma once

#include <vector>

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

/// The statement adds up or multiplies floats.
bool depends_on_order(const ir::Statement& statement);

/// For such a statement, the stage without the choices that reorder its terms: no partial sums in vector lanes, blocks,
/// pieces, dot products or running totals, so that they are combined one after the other, the last reduction index
/// fastest. Any other statement's stage as it is. `loops` has the whole reduction.
NestSchedule in_order(const ir::Statement& statement, const Loops& loops, NestSchedule stage);

/// Reduction loops that run once first, where none is taken for the innermost: repaired schedules have them there.
std::vector<int> with_idle_loops_first(const Loops& loops, std::vector<int> order);

/// All stages of a valid schedule are in that order; else one sentence. Class Program.
Result<void> check_order(const ir::Program& program, const Schedule& schedule);

}  // namespace tile_tune::codegen
