// Sums of operands that come from beyond the near caches and are used once: their results wait in the first cache.
#pragma once

#include <optional>

#include "search/space/tile_layout.h"

namespace tile_tune::search {

/// Of a long sum into few outputs; none for other statements.
std::optional<codegen::NestSchedule> sums_in_first_cache(const TileLayout& layout);

/// Of a long sum into a few tiles of outputs, beside each other in both operands, whose steps take lines from the
/// second cache faster than they come: blocks of the operands stay in the first one until all tiles of a home have read
/// them.
std::optional<codegen::NestSchedule> sums_by_blocks(const TileLayout& layout);

/// Of a few rows by a wide operand, whose own rows are then read in long pieces; the stage stays as it is for other
/// statements.
void read_in_long_pieces(const TileLayout& layout, codegen::NestSchedule& stage);

}  // namespace tile_tune::search
