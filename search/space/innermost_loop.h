// The innermost loop of a register tile's sum where it is short: a loop of few turns costs its jump, which is foreseen
// badly, and hides from the compiler which terms a border leaves out.
#pragma once

#include "search/space/tile_layout.h"

namespace tile_tune::search {

/// Unrolls one short loop of a stage that unrolls none yet: that over the taps whose vectors rows of the tile share
/// most, which comes last, or else the innermost, if registers have room for what more terms at a time hold.
void unroll_short_loop(const TileLayout& layout, codegen::NestSchedule& stage);

}  // namespace tile_tune::search
