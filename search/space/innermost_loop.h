// The innermost loop of a register tile's sum. A short one, of few turns, costs its jump, which is foreseen badly, and
// hides from the compiler which terms a border leaves out; of a long one each turn costs its jump and its counters.
#pragma once

#include "search/space/tile_layout.h"

namespace tile_tune::search {

/// Unrolls one loop of a stage that unrolls none yet: that over the taps whose vectors rows of the tile share most,
/// which comes last, or else the innermost, all of it if it is short and registers have room for what more terms at a
/// time hold, some steps if it is long.
void unroll_innermost(const TileLayout& layout, codegen::NestSchedule& stage);

}  // namespace tile_tune::search
