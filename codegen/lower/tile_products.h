// Names of the loops over the elements of a matrix unit's tiles, by which the pass over the lowered code finds them:
// the iterations of one dot product, the groups of them that are the reduction, the columns and the rows of a tile. And
// the name under which it finds the condition of a float product, which is 0 where that fails: in a function's clothes,
// since Halide would cut the loops where it ends.
#pragma once

namespace tile_tune::codegen {

inline constexpr char kTilePart[] = "tile_part", kTileGroup[] = "tile_group", kTileColumn[] = "tile_column",
                      kTileRow[] = "tile_row", kTileCondition[] = "tile_condition";

}  // namespace tile_tune::codegen
