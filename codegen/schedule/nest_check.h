// What makes the loops of a nest valid, whatever device they run on. Errors: invalid-schedule of class Program.
#pragma once

#include <string>

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {

tl::unexpected<Diagnostic> invalid(int statement, const std::string& what);

Result<void> check_tiles(const Loops& loops, int statement, const NestSchedule& stage);
/// Blocks of the reduction, of one piece where it is cut into such.
Result<void> check_blocks(const Loops& loops, int statement, const NestSchedule& stage);
/// But for their depths.
Result<void> check_packings(const Loops& loops, int statement, const NestSchedule& stage);
Result<void> check_pieces(const ir::Program& program, const Loops& loops, int statement, const NestSchedule& stage);

}  // namespace tile_tune::codegen
