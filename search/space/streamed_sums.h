// Sums of operands that come from beyond the near caches and are used once: their results wait in the first cache.
#pragma once

#include <optional>

#include "search/space/tile_layout.h"

namespace tile_tune::search {

/// Of a long sum into few outputs; none for other statements.
std::optional<codegen::NestSchedule> sums_in_first_cache(const TileLayout& layout);

/// Of a few rows by a wide operand, whose own rows are then read in long pieces; the stage stays as it is for other
/// statements.
void read_in_long_pieces(const TileLayout& layout, codegen::NestSchedule& stage);

}  // namespace tile_tune::search
