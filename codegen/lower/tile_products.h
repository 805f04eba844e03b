// Names of the loops over the elements of a matrix unit's tiles, by which the pass over the lowered code finds them:
// the iterations of one dot product, the groups of them that are the reduction, the columns and the rows of a tile.
#pragma once

namespace tile_tune::codegen {

inline constexpr char kTilePart[] = "tile_part", kTileGroup[] = "tile_group", kTileColumn[] = "tile_column",
                      kTileRow[] = "tile_row";

}  // namespace tile_tune::codegen
