// Taps of windows: reduction loops that move along a dimension of an operand together with an output loop, so that
// neighbours of the output read the same elements for other taps.
#pragma once

#include <cstdint>
#include <vector>

#include "search/space/tile_shape.h"

namespace tile_tune::search {

/// Reduction loops over windows that vectors along `vector_loop` slide over: of a subscript with an output loop in it.
std::vector<int> window_loops(const StageContext& context, int vector_loop);

/// Of window_loops() those that are unrolled for a tile: all where the body stays small, else, where loads take longer
/// than arithmetic, the one whose taps rows of the tile share most. 7 x 7 windows of 4 x 43 x 52 x 64, channels last,
/// took 590 us with a loop over either, 350 with rows of seven taps (AVX2 on two Zen 4 cores, 2026-11-28).
std::vector<int> unrolled_windows(const StageContext& context, const std::vector<int>& windows, const TileShape& tile);

/// Of what so many rows along output loop `p` read of an operand for all taps of reduction loop `r`, the share that is
/// there once: where both move along the same dimensions alike, rows beside each other read the same for other taps.
double share_of_overlap(const StageContext& context, const codegen::Operand& operand, int r, int p, int64_t rows);

/// The same of all rows of a tile.
double share_of_rows(const StageContext& context, const codegen::Operand& operand, int r, const TileShape& tile);

}  // namespace tile_tune::search
