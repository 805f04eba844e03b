// Executing a program on arrays: by the reference, or by a kernel in a worker process.
#pragma once

#include <string>
#include <vector>

#include "cli/array_sizes.h"
#include "cli/records.h"
#include "cli/session.h"

namespace tile_tune::cli {

struct Engine {
  std::string name = "tuned";  // "reference", "default" (schedule) or "tuned"
  std::string schedule;        // a file to take the schedule from instead; empty: none
};

struct Executed {
  std::vector<tensor::Array> outputs;  // in signature order
  std::string provenance;              // "reference", or ScheduleChoice::provenance
  std::string rung;                    // "reference", or ScheduleChoice::rung
};

/// Refuses what is too large for the memory, or for kernels where one is needed (cli/memory.h): run_workload() does so
/// before anything else.
Result<void> check_runnable(const ir::Program& program, const Engine& engine);

/// `arrays` holds one for each input; in/out outputs that it has no array for start from initial_value(), with a
/// warning. Kernels are checked on a sample of their elements against the reference; outputs without elements need
/// none, unless a schedule is given.
Result<Executed> run_workload(const Workload& workload, NamedArrays arrays, const Engine& engine,
                              const Session& session);

}  // namespace tile_tune::cli
