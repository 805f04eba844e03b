#pragma once

#include <string>
#include <vector>

#include "engine/programs/loaded_program.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::engine {

/// A program as it is, and, where weights are asked for, as the library takes it that gets its weights packed.
struct Variant {
  const LoadedProgram* loaded;
  std::string name;
  ir::Program program;
};

/// `stored`: the program with its layouts and constants. Must not outlive `loaded`.
Result<std::vector<Variant>> variants_of(const LoadedProgram& loaded, const ir::Program& stored, bool weights);

}  // namespace tile_tune::engine
