// Reductions in vector lanes whose operands, but for one, are small and used many times. One kind are products of small
// matrices both of which lie along the reduction, as b does in a b^T; another, a large matrix that does by a few
// columns, which are copied so that they do. No lane is empty, whatever the number of columns; each element's lanes are
// added up at the end.
//
// 500 products of 26 x 72 by (26 x 72)^T took 322 us with tiles of 13 x 2 elements, 342 with one operand transposed and
// 26 of 32 lanes in use (two Zen 4 cores, other work beside it).
#pragma once

#include <optional>

#include "search/space/register_tile.h"

namespace tile_tune::search {

struct LaneTile {
  RegisterTile tile;      // cost as of register_tiles_by_width()
  bool is_small = false;  // little is copied if anything, and the first cache has all but what passes by
};

/// The cheapest tile whose vector loop is a reduction loop, along which the operands lie or are to be copied; none
/// unless two or three output loops share operands in it, or one a copy, and what one batch reads again fits a cache.
std::optional<LaneTile> best_lane_tile(const StageContext& context);

/// Whether the tile, of reduction loop `loop`, has a copy of the operand: of what does not lie along the loop, and of
/// halves that several tiles read, which are widened once so.
bool is_copied_for_lanes(const StageContext& context, const codegen::Operand& operand, int loop,
                         const std::vector<int64_t>& tile);

}  // namespace tile_tune::search
