// All statements of a program as Funcs, and their nests where the schedule has them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "codegen/lower/apply.h"
#include "codegen/schedule/fusion.h"

namespace tile_tune::codegen {

/// A stage with a nest that has its directives.
struct ScheduledNest {
  const NestSchedule& schedule;
  const Stage& stage;
  NestPlacement placement;
};

/// By statement. `readable`: what expressions read inputs from, of constants packed beforehand the packed elements;
/// `initial`: the elements of the caller's buffers.
std::vector<Stage> make_stages(const KernelContext& kernel, const Schedule& schedule, const Fusion& fusion,
                               const TensorFuncs& initial, TensorFuncs readable);

/// The same with no Func to be scheduled, each statement as plainly as it can be written: what an automatic scheduler
/// starts from. A reduction has a Func of its own, which the one that holds the target's elements reads.
std::vector<Stage> make_plain_stages(const KernelContext& kernel, const TensorFuncs& initial, TensorFuncs readable);

/// The Funcs that hold what the statements wrote, of each tensor the last.
TensorFuncs written_by(const ir::Program& program, const std::vector<Stage>& stages);

/// By owner (Fusion::owner_of). Gives all Funcs of the stages their directives. `outputs`: what is in the caller's
/// buffers, in the program's order, of which nests store complex elements at once where their vectors are neighbours.
std::map<int, ScheduledNest> schedule_nests(const ir::Program& program, const Schedule& schedule, const Fusion& fusion,
                                            const std::vector<Stage>& stages, const std::vector<Halide::Func>& outputs,
                                            const Target& target);
/// Names of the outputs whose complex elements nests store.
std::set<std::string> interleaved_by(const std::map<int, ScheduledNest>& nests);

}  // namespace tile_tune::codegen
