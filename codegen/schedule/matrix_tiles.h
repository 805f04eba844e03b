// Dot products of whole tiles by a CPU's matrix unit (AMX: tdpbf16ps, tdpbssd and those of other signs): up to 16 rows
// of one operand by 16 columns of the other, each 64 bytes along the reduction, are added to 16 by 16 sums in a
// register of their own. Eight such registers hold sums and operands.
//
// The vector operand is packed as for other dot products, so that the neighbours an instruction takes lie side by side,
// column by column. Of the other operand neighbours along the reduction are neighbours in memory, or in its copy.
#pragma once

#include <optional>
#include <vector>

#include "codegen/schedule/dot_product.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// Columns of a tile, the rows it has at most, and the groups of iterations, of a dot product each, that it takes.
inline constexpr int kTileColumns = 16, kMostTileRows = 16, kMostGroups = 16;
inline constexpr int kBytesOfGroup = 4, kTileBytes = kMostGroups * kBytesOfGroup;

/// Of a dimension of an operand the elements whose terms count, where a condition (padding) leaves out those of others.
struct TileBorder {
  int operand = 0, dimension = 0;
  int64_t first = 0, end = 0;
};

/// How a register tile is made of them.
struct MatrixTiles {
  int row_loop = 0;                 // the output loop of the rows
  int rows = 1;                     // of a tile: a divisor of the register tile's
  int row_operand = 0;              // the operand that is the same for all columns
  int row_dimension = 0;            // of that operand, along which the reduction walks
  int column_operand = 0;           // the other one
  int column_dimension = 0;         // of that, along which the columns lie
  bool is_filled_up = false;        // the last group reaches beyond the sum: copies of both operands have zeros there
  int64_t down = 1, across = 1;     // tiles of a register tile
  int groups = 1;                   // of a tile along the reduction
  bool leaves_some = false;         // groups behind whole tiles, for which others are made
  std::vector<TileBorder> borders;  // beyond which copies of the operands have zeros
};

/// Rows of a tile where a register tile has so many.
int tile_rows(int64_t rows);
/// How many groups of 4 bytes along the reduction an instruction takes where there are so many: all alike if that may
/// be, else what is left over has tiles of its own.
int groups_of_tile(int64_t groups);
/// Whether sums of so many rows by so many columns, and what they are made of, fit the eight registers; `groups` along
/// the reduction.
bool fits_tile_registers(int64_t rows, int64_t columns, int64_t groups);

/// Whether one kernel may have both: a register has one shape in all of a function, which has eight.
bool go_together(const MatrixTiles& a, const MatrixTiles& b);

/// Those of a sum of products; nothing where terms have conditions of other kinds.
std::optional<std::vector<TileBorder>> borders_of(const ir::Statement& statement, const Loops& loops);

/// Nothing where the stage's loops, but for copies, or the terms' conditions have no place for them.
std::optional<MatrixTiles> matrix_tiles(const ir::Statement& statement, const Loops& loops, const NestSchedule& stage);
/// Whether the row operand lies along the reduction, as it is or in the stage's copy, the other's copy along the
/// columns, and what is filled up or has borders is copied in the kernel.
bool suits_operands(const ir::Program& program, const Loops& loops, const NestSchedule& stage,
                    const MatrixTiles& tiles);

/// Whether rows that an inlined statement computes are copied.
bool has_rows_in_memory(const ir::Program& program, const Schedule& schedule, const Loops& loops,
                        const NestSchedule& stage, const MatrixTiles& tiles);

/// Makes the register tile of one loop the next smaller multiple of `unit` that divides the tile around it.
void shrink_register_tile(std::vector<int64_t>& tiles, int64_t unit);
/// The stage without them: of as many rows as leave vector registers for what sums are made of.
NestSchedule without_matrix_tiles(NestSchedule stage);

}  // namespace tile_tune::codegen
