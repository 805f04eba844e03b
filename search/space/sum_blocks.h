// Sums whose results are collected, in blocks of their terms: what several tiles read stays in the first cache.
#pragma once

#include "search/space/tile_layout.h"

namespace tile_tune::search {

/// Of windows whose tiles, side by side in a home, read more than the first cache holds: the home takes one part of all
/// its sums after the other, whose terms are there for all tiles. The stage stays as it is for other statements.
void sum_in_blocks(const TileLayout& layout, codegen::NestSchedule& stage);

}  // namespace tile_tune::search
