// Elements of a statement that are computed side by side in registers.
#pragma once

#include <cstdint>
#include <vector>

#include "search/space/repair.h"

namespace tile_tune::search {

struct TileShape {
  int vector_loop = -1;
  int lanes = 1;
  std::vector<int64_t> sizes;  // by output loop, in elements

  /// Rows along output loop p, or vectors.
  int64_t pieces(int p) const { return sizes[p] / (p == vector_loop ? lanes : 1); }
  /// Of all loops: vectors of sums.
  int64_t pieces() const {
    int64_t count = 1;
    for (int p = 0; p < static_cast<int>(sizes.size()); ++p) count *= pieces(p);
    return count;
  }
};

/// What a step of the sum takes of an operand: vectors, or single elements where it does not move along the vector
/// loop.
inline int64_t pieces_of(const StageContext& context, const codegen::Operand& operand, const TileShape& tile) {
  int64_t count = 1;
  for (int p = 0; p < context.outputs(); ++p)
    if (context.distance(operand, p) != 0) count *= tile.pieces(p);
  return count;
}

}  // namespace tile_tune::search
