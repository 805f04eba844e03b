// The steps of a network as programs of their own: a product that was tuned anywhere is known in every network.
#pragma once

#include <optional>
#include <vector>

#include "engine/records/tuned_record.h"
#include "engine/records/workload.h"
#include "search/space/space.h"

namespace tile_tune::engine {

/// A statement that is a product of one or two whole tensors (programs/network_form.h), as the einsum it is alone.
struct NetworkStep {
  size_t statement = 0;  // of the network's program
  LoadedProgram loaded;  // sizes symbolic, tensors stored as the network has them
  Workload workload;
};

/// Of a canonical, bound program of several statements; none of a single one.
std::vector<NetworkStep> steps_of(const ir::Program& network);

/// What each statement of a canonical, bound program takes as it is tuned alone, in ns; nullopt of what is no such step
/// or is not tuned, and of a program of one statement.
Result<std::vector<std::optional<double>>> step_times(const ir::Program& network, const codegen::Target& target,
                                                      std::vector<db::Database>& stack);

/// Each step as it is tuned alone, if all are; else the default schedule with those tuned steps that it computes apart
/// from all others. nullopt where that changes nothing. `dimensions`: of the result.
Result<std::optional<codegen::Schedule>> schedule_of_steps(
    const Workload& workload, const codegen::Target& target, std::vector<db::Database>& stack,
    search::Dimensions dimensions = search::Dimensions::Collapsed);

}  // namespace tile_tune::engine
