// Lines of an operand that is read by single elements, where the steps of the sum or the rows of a tile lie far apart.
#pragma once

#include <cstdint>
#include <vector>

#include "search/space/repair.h"

namespace tile_tune::search {

/// Whether the lines that a tile of so many elements along each output loop reads of `operand`, with all steps of the
/// sum, are more than the second cache holds, or has sets for: it has forgotten them when the next tile reads other
/// elements of the same lines. False where no tile does, or the next step reads more of a line.
bool loses_lines(const StageContext& context, const codegen::Operand& operand, const std::vector<int64_t>& tile);

/// Whether the lines that such a tile reads of `operand`, which is affine, are more than the first cache has places
/// for, by how far apart they are.
bool overfills_first_cache(const StageContext& context, const codegen::Operand& operand,
                           const std::vector<int64_t>& tile);

}  // namespace tile_tune::search
