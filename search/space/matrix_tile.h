// Register tiles of a CPU's matrix unit (codegen/schedule/matrix_tiles.h): which default schedules have, and what makes
// a drawn or changed stage suit them.
#pragma once

#include <vector>

#include "codegen/schedule/matrix_tiles.h"
#include "search/space/register_tile.h"

namespace tile_tune::search {

/// Cheapest first, each with its cost in vector operations of one core, as RegisterTile has it; none where the target
/// has no such unit or the statement no place for it.
std::vector<RegisterTile> matrix_tiles_by_cost(const StageContext& context);

/// The stage, made for one of those, with their instructions; nothing where they do not fit it.
std::optional<codegen::NestSchedule> with_matrix_tiles(const StageContext& context, codegen::NestSchedule stage);

/// Rows along one loop, as many as fit the registers, the innermost reduction alone in them, both operands' neighbours
/// along it side by side. Where that is not to be had, dot products as they are.
void repair_matrix_tiles(const StageContext& context, codegen::NestSchedule& stage, Notes& notes);

/// Dot products as they are, of as many rows as the vector registers hold.
void drop_matrix_tiles(codegen::NestSchedule& stage, Notes& notes);

/// A copy of the rows along the reduction inside so many loops, in place of another.
void copy_rows(const StageContext& context, codegen::NestSchedule& stage, const codegen::MatrixTiles& tiles, int depth);

}  // namespace tile_tune::search
