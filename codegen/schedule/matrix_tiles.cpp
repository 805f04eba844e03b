#include "codegen/schedule/matrix_tiles.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/packed_form.h"

namespace tile_tune::codegen {
namespace {

/// The dimension of the operand along which the loop walks alone, element by element.
std::optional<int> dimension_along(const Operand& operand, int index) {
  std::optional<int> found;
  for (size_t d = 0; d < operand.subscripts.size(); ++d) {
    const auto& affine = std::get<ir::AffineExpr>(operand.subscripts[d]);
    if (affine.coefficient(index) == 0) continue;
    if (found || affine.coefficient(index) != 1 || affine.denominator != 1) return std::nullopt;
    found = static_cast<int>(d);
  }
  return found;
}

bool walks_alike(const ir::AffineExpr& a, const ir::AffineExpr& b) {
  return a.terms == b.terms && a.denominator == 1 && b.denominator == 1;
}

/// Of the constraint: a dimension of either operand whose subscript it keeps between two numbers.
std::optional<TileBorder> border_of(const Loops& loops, const ir::Constraint& constraint) {
  for (const Operand& operand : loops.operands)
    for (size_t d = 0; operand.affine && d < operand.subscripts.size(); ++d) {
      const auto& subscript = std::get<ir::AffineExpr>(operand.subscripts[d]);
      if (!walks_alike(subscript, constraint.expr)) continue;
      const int64_t first = subscript.constant.constant().value() - constraint.expr.constant.constant().value();
      return TileBorder{operand.number, static_cast<int>(d), first, first + constraint.bound.constant().value()};
    }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<TileBorder>> borders_of(const ir::Statement& statement, const Loops& loops) {
  std::vector<TileBorder> borders;
  for (const auto& constraint : statement.constraints) {
    const auto border = border_of(loops, constraint);
    if (!border) return std::nullopt;
    borders.push_back(*border);
  }
  return borders;
}

int tile_rows(int64_t rows) {
  int most = static_cast<int>(std::min<int64_t>(rows, kMostTileRows));
  while (rows % most != 0) --most;
  return most;
}

int groups_of_tile(int64_t groups) {
  constexpr int kFewest = 12;  // chosen: three quarters of what an instruction can take
  for (int most = kMostGroups; most >= kFewest; --most)
    if (groups % most == 0) return most;
  return static_cast<int>(std::min<int64_t>(groups, kMostGroups));
}

// A register has one shape in all of a function. Of the side with fewer tiles all are held, and one of the other's
// passes by.
bool fits_tile_registers(int64_t rows, int64_t columns, int64_t groups) {
  constexpr int64_t kRegisters = 8;
  if (columns % kTileColumns != 0) return false;
  const int64_t down = rows / tile_rows(rows), across = columns / kTileColumns;
  const int64_t shapes = groups % groups_of_tile(groups) == 0 ? 1 : 2;
  return down * across + shapes * (std::min(down, across) + 1) <= kRegisters;
}

std::optional<MatrixTiles> matrix_tiles(const ir::Statement& statement, const Loops& loops, const NestSchedule& stage) {
  if (stage.is_gpu() || stage.dot_pairs) return std::nullopt;
  const auto dot = dot_product(statement, loops, stage);
  if (!dot || dot->in_lanes || stage.cpu().lanes != kTileColumns) return std::nullopt;
  const int v = stage.cpu().vector_loop, outputs = static_cast<int>(loops.output.size());
  const Operand &row = loops.operands[1 - dot->column], &column = loops.operands[dot->column];
  MatrixTiles tiles;
  tiles.row_operand = row.number;
  int row_loops = 0;
  for (int p = 0; p < outputs; ++p) {
    if (!writes_all_of(statement, loops, p)) return std::nullopt;
    if (p == v || stage.tiles[p].back() == 1) continue;
    if (!loops.is_walked(row, p) || loops.is_walked(column, p)) return std::nullopt;
    tiles.row_loop = p;
    ++row_loops;
  }
  if (row_loops != 1) return std::nullopt;
  const int64_t rows = stage.tiles[tiles.row_loop].back();
  tiles.rows = tile_rows(rows);
  if (tiles.rows < 2) return std::nullopt;
  for (size_t r = 0; r < loops.reduction.size(); ++r)
    if (static_cast<int>(r) != dot->loop && stage.reduction_unroll[r] != 1) return std::nullopt;
  // At least two groups of those that an instruction multiplies at a time.
  const int64_t extent = loops.reduction[dot->loop], block = stage.reduction_block[dot->loop];
  if ((block < extent && block % dot->width != 0) || block < 2 * dot->width) return std::nullopt;
  const int64_t groups = (block + dot->width - 1) / dot->width;
  if (!fits_tile_registers(rows, stage.tiles[v].back(), groups)) return std::nullopt;
  tiles.down = rows / tiles.rows;
  tiles.across = stage.tiles[v].back() / kTileColumns;
  tiles.groups = groups_of_tile(groups);
  tiles.leaves_some = groups % tiles.groups != 0;
  tiles.is_filled_up = extent % dot->width != 0;
  const auto along = dimension_along(row, loops.reduction_index[dot->loop]);
  const auto across = dimension_along(column, loops.output_index[v]);
  if (!along || !across) return std::nullopt;
  tiles.row_dimension = *along;
  tiles.column_operand = column.number;
  tiles.column_dimension = *across;
  auto borders = borders_of(statement, loops);
  if (!borders) return std::nullopt;
  tiles.borders = std::move(*borders);
  return tiles;
}

bool go_together(const MatrixTiles& a, const MatrixTiles& b) {
  const bool are_of_one_shape = a.rows == kMostTileRows && a.groups == kMostGroups;
  return a.rows == b.rows && a.groups == b.groups && !a.leaves_some && !b.leaves_some &&
         (are_of_one_shape || (a.down == b.down && a.across == b.across));
}

bool suits_operands(const ir::Program& program, const Loops& loops, const NestSchedule& stage,
                    const MatrixTiles& tiles) {
  if (tiles.is_filled_up && (!copy_read_by(loops, stage, tiles.row_operand) ||
                             std::any_of(loops.operands.begin(), loops.operands.end(), [&](const Operand& operand) {
                               return is_packed_beforehand(program, operand);
                             })))
    return false;
  for (const TileBorder& border : tiles.borders)
    if (!copy_read_by(loops, stage, border.operand) || is_packed_beforehand(program, loops.operands[border.operand]))
      return false;
  // What is read for the next elements of a window may be infinite, which times 0 is no number.
  const auto& row = loops.operands[tiles.row_operand];
  if (tiles.is_filled_up && is_float(program.tensors[row.tensor].type) &&
      std::get<ir::AffineExpr>(row.subscripts[tiles.row_dimension]).terms.size() > 1)
    return false;
  const Packing* const columns = copy_read_by(loops, stage, tiles.column_operand);
  if (columns && columns->order.front() != tiles.column_dimension) return false;
  if (const Packing* const copy = copy_read_by(loops, stage, tiles.row_operand))
    return copy->order.front() == tiles.row_dimension;
  const int loop = static_cast<int>(loops.output.size()) + stage.reduction_order.back();
  return loops.stride(program, loops.operands[tiles.row_operand], loop) == 1;
}

bool has_rows_in_memory(const ir::Program& program, const Schedule& schedule, const Loops& loops,
                        const NestSchedule& stage, const MatrixTiles& tiles) {
  if (copy_read_by(loops, stage, tiles.row_operand)) return true;
  for (size_t s = 0; s < schedule.stages.size(); ++s)
    if (schedule.stages[s].is_inlined() && program.statements[s].target == loops.operands[tiles.row_operand].tensor)
      return false;
  return true;
}

void shrink_register_tile(std::vector<int64_t>& tiles, int64_t unit) {
  do tiles.back() -= unit;
  while (tiles.size() > 1 && tiles[tiles.size() - 2] % tiles.back() != 0);
}

NestSchedule without_matrix_tiles(NestSchedule stage) {
  constexpr int64_t kMostSums = 16;  // half of the registers of the processors that have a matrix unit
  if (!std::exchange(stage.dot_tiles, false)) return stage;
  const auto sums = [&] {
    int64_t count = 1;
    for (const auto& tiles : stage.tiles) count *= tiles.back();
    return count / stage.lanes();
  };
  for (size_t p = 0; p < stage.tiles.size(); ++p) {
    auto& tiles = stage.tiles[p];
    if (static_cast<int>(p) == stage.vector_loop()) continue;
    while (tiles.back() > 1 && sums() > kMostSums) shrink_register_tile(tiles, 1);
  }
  return stage;
}

}  // namespace tile_tune::codegen
