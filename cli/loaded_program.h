// A program with what the database keeps of its origin.
#pragma once

#include <string>

#include "frontend/ir/program.h"

namespace tile_tune::cli {

struct LoadedProgram {
  ir::Program program;   // as written, sizes symbolic
  std::string frontend;  // "tc", "json" or "einsum"
  std::string source;    // its own text: of a file of many defs, one of them
  ir::Sizes sizes = {};  // those that --shape or arrays give
};

}  // namespace tile_tune::cli
