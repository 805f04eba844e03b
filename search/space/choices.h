// The values each decision of a schedule may take.
#pragma once

#include "codegen/schedule/check.h"
#include "search/space/repair.h"
#include "search/space/rng.h"

namespace tile_tune::search {

/// Powers of two from half a natural vector to two of them that fit `extent`, ascending; empty if extent < 2.
std::vector<int> lane_choices(const StageContext& context, int64_t extent);

/// Lanes of a vector that is longer than a loop (codegen/schedule/masked_vector.h) and loaded under a mask; 0: there
/// can be none.
int masked_lanes(const StageContext& context, int loop);

/// Register tile sizes of output loop p, in elements (whole vectors if it is the vector loop), ascending.
std::vector<int64_t> register_tiles(const StageContext& context, const codegen::NestSchedule& stage, int p);

/// How many inner tiles an outer tile may hold: 1, 2, 3, 4, 6, 8, 12, ... up to what fits `extent`.
std::vector<int64_t> tile_multiples(int64_t inner, int64_t extent);

/// Elements of a tile around tiles of `inner` that has all of a loop, or half of it where `inner` does not divide that
/// (of three tiles one): a second tile, moved back to the border, would compute nearly all of the first one again.
int64_t around_all(int64_t inner, int64_t extent);

/// The smallest multiple of `step` that is no less.
inline int64_t round_up(int64_t number, int64_t step) { return (number + step - 1) / step * step; }

/// The largest divisor of `number` that is at most `limit`.
int64_t largest_divisor_up_to(int64_t number, int64_t limit);

/// Divisors of a reduction's extent worth blocking or unrolling by.
std::vector<int64_t> block_choices(int64_t extent);
/// And powers of two, whose last block is shorter.
std::vector<int64_t> uneven_block_choices(int64_t extent);
std::vector<int64_t> unroll_choices(int64_t block);
/// And others, that leave some over.
std::vector<int64_t> uneven_unroll_choices(int64_t block);

/// Into how many equal pieces that leave nothing over a reduction may be cut to run in parallel, ascending.
std::vector<int> piece_choices(int64_t extent, int most = codegen::kMostPieces);
/// The same of reduction loop `r` on a CPU, and powers of two that leave few iterations over.
std::vector<int> uneven_piece_choices(const StageContext& context, int r);
/// The most pieces of that loop up to a number of them, on a CPU; 1: it cannot be cut.
int most_pieces_up_to(const StageContext& context, int r, int most);
/// Natural logarithm of how many orders, blocks and unrolls the reduction loops have, and ways to cut one into pieces.
double log_reduction_loops(const StageContext& context);

/// Loops that can be vectorised (extent of at least 2): output loops, then reduction loops.
std::vector<int> vector_loops(const StageContext& context);

/// Operands that are affine and have at least one dimension.
std::vector<int> packable_operands(const StageContext& context);

/// Positions in the nest where a packed copy may be made, given how many loops are parallel.
std::vector<int> packing_depths(const StageContext& context, const codegen::NestSchedule& stage);

/// A copy of an operand made once a panel of the vector loop, which is an output loop: stored with the dimensions that
/// the vector loop walks innermost, the others as they lie in memory.
codegen::Packing panel_packing(const StageContext& context, const codegen::NestSchedule& stage, int operand);

constexpr int kMaxLevels = 3;  // register, and two levels of cache around it

}  // namespace tile_tune::search
