// The default schedule of a statement whose operands are used many times each: products, convolutions, contractions.
#pragma once

#include "search/space/register_tile.h"

namespace tile_tune::search {

/// Starting a parallel loop costs some 5 us (two threads, Zen 4, halide_do_par_for of the 21.0 runtime), the time of
/// about 10^5 scalar operations: work below that stays on one thread.
inline constexpr double kSerialWork = 1e5;
/// Around the register tile: the order of tiles, what is packed where, and the loop that runs in parallel.
codegen::StageSchedule contraction_stage(const StageContext& context, const RegisterTile& tile);

}  // namespace tile_tune::search
