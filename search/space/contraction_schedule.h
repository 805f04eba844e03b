// The default schedule of a statement whose operands are used many times each: products, convolutions, contractions.
#pragma once

#include "search/space/register_tile.h"

namespace tile_tune::search {

/// Around the register tile: the order of tiles, what is packed where, and the loop that runs in parallel.
codegen::NestSchedule contraction_stage(const StageContext& context, const RegisterTile& tile);

}  // namespace tile_tune::search
