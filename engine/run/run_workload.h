// Executing a program on arrays: by the reference, or by a kernel in a worker process.
#pragma once

#include <string>
#include <vector>

#include "engine/programs/array_sizes.h"
#include "engine/records/workload.h"
#include "engine/records/schedule_choice.h"
#include "engine/session/session.h"

namespace tile_tune::engine {

struct EngineChoice {
  std::string name = "tuned";  // "reference", "default" (schedule) or "tuned"
  std::string schedule;        // a file to take the schedule from instead; empty: none
};

/// A schedule, and what it is of: for one that is not stored the form that a search would begin with.
struct Chosen {
  Workload workload;
  ScheduleChoice choice;
};

/// What an engine other than the reference runs.
Result<Chosen> choose(const EngineChoice& engine, const Workload& workload, const codegen::Target& target,
                      const Session& session);

struct Executed {
  std::vector<tensor::Array> outputs;  // in signature order
  std::string provenance;              // "reference", or ScheduleChoice::provenance
  std::string rung;                    // "reference", or ScheduleChoice::rung
};

/// Refuses what is too large for the memory, or for kernels where one is needed (engine/programs/memory.h):
/// run_workload() does so before anything else.
Result<void> check_runnable(const ir::Program& program, const EngineChoice& engine);

/// `arrays` holds one for each input; in/out outputs that it has no array for start from initial_value(), with a
/// warning. Kernels are checked on a sample of their elements against the reference; outputs without elements need
/// none, unless a schedule is given.
Result<Executed> run_workload(const Workload& workload, NamedArrays arrays, const EngineChoice& engine,
                              const Session& session);

}  // namespace tile_tune::engine
