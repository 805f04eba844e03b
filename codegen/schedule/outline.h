// A schedule as a few lines of pseudo-code, with the program's names of indices.
#pragma once

#include <string>

#include "codegen/schedule/schedule.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// One line for each level of loops, which are named by what an iteration takes of them, then what is done with the
/// innermost tile. The schedule must fit the program.
std::string outline(const ir::Program& program, const Schedule& schedule);

}  // namespace tile_tune::codegen
