// Warnings about a program that say more once its sizes are numbers.
#pragma once

#include "cli/report.h"
#include "frontend/ir/program.h"

namespace tile_tune::cli {

/// Of reductions over part of an operand (frontend/ir/partial_reductions.h).
void warn_at_sizes(const ir::Program& program, const Reporter& report);

}  // namespace tile_tune::cli
