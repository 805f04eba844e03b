// A program with what the database keeps of its origin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::engine {

/// What a suite says of one of its workloads.
struct SuiteFigures {
  std::string name, group;
  std::optional<double> flops, bytes;  // fixed figures to compute rates from
  std::vector<std::string> weights;    // inputs that stay the same from call to call
};

struct LoadedProgram {
  ir::Program program;   // as written, sizes symbolic
  std::string frontend;  // "tc", "json" or "einsum"
  std::string source;    // its own text: of a file of many defs, one of them
  ir::Sizes sizes = {};  // those that --shape, arrays or a suite give
  std::optional<SuiteFigures> suite = {};
};

}  // namespace tile_tune::engine
