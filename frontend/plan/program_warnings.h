// What a program gives rise to that is told before it runs.
#pragma once

#include <vector>

#include "frontend/ir/program.h"

namespace tile_tune::plan {

/// ir::warnings_of(), and of a bound program "unfactored-sum" for each sum whose form keeps it from steps of less than
/// half the FLOP (factoring.h), placed at its statement.
std::vector<Diagnostic> program_warnings(const ir::Program& program);

}  // namespace tile_tune::plan
