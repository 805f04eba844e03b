// Running one kernel in a worker process, and judging what it computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "frontend/ir/program.h"
#include "frontend/reference/reference.h"
#include "search/workers/onlooker.h"

namespace tile_tune::engine {

/// A program (canonical and bound) with a schedule on a target.
struct Job {
  const ir::Program& program;
  const codegen::Schedule& schedule;
  const codegen::Target& target;
  std::string executable = "/proc/self/exe";  // Session::executable
  search::Onlooker onlooker = {};
};

/// Outputs in signature order, computed by the compiled kernel from these inputs and checked on a sample of their
/// elements against the reference. A wrong result is of class Verification; an index outside of its tensor, known at
/// run time only, of class Mismatch.
Result<std::vector<tensor::Array>> execute(const Job& job, const reference::Inputs& inputs);

}  // namespace tile_tune::engine
