#include "search/space/matrix_tile.h"

#include <algorithm>

#include "codegen/schedule/matrix_tiles.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/target/costs.h"
#include "search/space/choices.h"

namespace tile_tune::search {
namespace {

namespace costs = codegen::costs;

using codegen::kMostTileRows;
using codegen::kTileBytes;
using codegen::kTileColumns;
using codegen::NestSchedule;
using codegen::Operand;

// Cycles of a product of two tiles, and of a tile that is loaded from the first cache (Intel's Optimization Reference
// Manual, "Intel AMX": throughput of TDP* and TILELOADD) or from the second one, 1 KB at 48 bytes a cycle (the same,
// "Cache hierarchy"). Vector operations are two a cycle.
constexpr double kProduct = 16, kLoad = 8, kLoadFromSecondCache = 21, kOperationsOfCycle = 2;
// Vectors of a tile's row of sums that pass through memory on their way: stored, loaded, stored.
constexpr double kMovesOfSums = 3;

// What a statement has of rows and columns.
struct Sides {
  const Operand& rows;
  const Operand& columns;
  int v, p;  // output loops: of the columns, of the rows
  int r;     // the reduction loop in tiles
};

double ceil_of(int64_t extent, int64_t step) {
  const int64_t steps = (std::max<int64_t>(extent, 1) + step - 1) / step;
  return static_cast<double>(steps);
}

int64_t bytes_along(const StageContext& context, const Sides& sides) {
  const auto type = context.program->tensors[sides.rows.tensor].type;
  return context.loops.reduction[sides.r] * static_cast<int64_t>(dtype_size(type));
}

bool fills_up(const StageContext& context, const Sides& sides) {
  return bytes_along(context, sides) % codegen::kBytesOfGroup != 0;
}

// Of each side that lies otherwise than tiles take it, what its copy costs: of neighbours along the columns, which are
// copied in any case, nothing, as with other dot products.
double copies(const StageContext& context, const Sides& sides) {
  const bool is_copied =
      context.distance(sides.columns, sides.v) != 1 && !codegen::is_packed_beforehand(*context.program, sides.columns);
  double count = is_copied ? whole_footprint(context, sides.columns) : 0;
  const bool has_borders = !context.program->statements[context.statement].constraints.empty();
  if (context.distance(sides.rows, context.outputs() + sides.r) != 1 || fills_up(context, sides) || has_borders)
    count += whole_footprint(context, sides.rows);
  return count * costs::copy_of_element(context.type);
}

double stores(const StageContext& context, int v) {
  const auto& statement = context.program->statements[context.statement];
  const bool are_rows = codegen::output_stride(*context.program, statement, context.loops, v) == 1;
  const double moves = kMovesOfSums / kTileColumns + (are_rows ? 0 : costs::copy_of_element(context.type));
  return elements_of_output(context) * moves;
}

int64_t groups(const StageContext& context, const Sides& sides) {
  return (bytes_along(context, sides) + codegen::kBytesOfGroup - 1) / codegen::kBytesOfGroup;
}

RegisterTile tile_of(const StageContext& context, const Sides& sides, int64_t rows, int64_t columns) {
  RegisterTile tile;
  tile.vector_loop = sides.v;
  tile.lanes = kTileColumns;
  tile.is_matrix_tiles = true;
  tile.dot_loop = sides.r;
  tile.sizes.assign(static_cast<size_t>(context.outputs()), 1);
  tile.sizes[sides.p] = rows;
  tile.sizes[sides.v] = columns;
  const int64_t all = groups(context, sides);
  double steps = ceil_of(all, std::max(codegen::groups_of_tile(all), 1));
  for (int r = 0; r < context.reductions(); ++r)
    if (r != sides.r) steps *= static_cast<double>(std::max<int64_t>(context.loops.reduction[r], 1));
  double tiles = 1;
  for (int p = 0; p < context.outputs(); ++p) tiles *= ceil_of(context.loops.output[p], tile.sizes[p]);
  const double down = ceil_of(rows, codegen::tile_rows(rows)), across = ceil_of(columns, kTileColumns);
  // The columns' panel stays where all tiles of rows find it, while these pass by.
  const double panel = static_cast<double>(columns) * steps * kTileBytes;
  const bool is_near = panel <= static_cast<double>(context.target->l1_bytes) / 2;
  const double loads = kLoadFromSecondCache * down + (is_near ? kLoad : kLoadFromSecondCache) * across;
  const double cycles = std::max(kProduct * down * across, loads) + costs::kLoadShare * loads;
  tile.moves = copies(context, sides) + stores(context, sides.v);
  // As the cost of dot products has it, of which a lane takes several terms at a time.
  tile.cost = tile.moves + kOperationsOfCycle * tiles * steps * cycles * iterations_in_lane(context);
  return tile;
}

void add_tiles(const StageContext& context, const Sides& sides, std::vector<RegisterTile>& tiles) {
  constexpr int64_t kMostAcross = 6;  // with one of rows, which leaves two registers
  const int64_t most = kMostAcross * kMostTileRows;
  for (int64_t columns = kTileColumns; columns <= std::min(context.loops.output[sides.v], most);
       columns += kTileColumns)
    for (int64_t rows = 2; rows <= std::min(context.loops.output[sides.p], most); ++rows)
      if (codegen::tile_rows(rows) > 1 && codegen::fits_tile_registers(rows, columns, groups(context, sides)))
        tiles.push_back(tile_of(context, sides, rows, columns));
}

void put_first(codegen::Packing& copy, int dimension) {
  const auto at = std::find(copy.order.begin(), copy.order.end(), dimension);
  std::rotate(copy.order.begin(), at, at + 1);
}

// A copy of the rows along the reduction, where tiles cannot take them as they are, and one of the columns along these.
void suit_copies(const StageContext& context, NestSchedule& stage, const codegen::MatrixTiles& tiles, int depth) {
  for (auto& copy : stage.packings)
    if (copy.operand == tiles.column_operand && copy.order.front() != tiles.column_dimension)
      put_first(copy, tiles.column_dimension);
  if (!codegen::suits_operands(*context.program, context.loops, stage, tiles)) copy_rows(context, stage, tiles, depth);
}

// Inside the parallel loops where all threads' copies are together no more than one for each: what one core wrote comes
// slowly to another. 64 channels of 56 x 56 bytes, with borders, to 64 took 163 us with one copy for both threads, 136
// so, from 128 channels in four panels 410 and 430 (two Emerald Rapids cores, 2026-12-01). Else 0.
int depth_of_copy(const StageContext& context, const NestSchedule& stage, int number) {
  const auto& operand = context.loops.operands[number];
  std::vector<int64_t> extents = context.loops.output;
  extents.insert(extents.end(), context.loops.reduction.begin(), context.loops.reduction.end());
  const double whole = context.bytes(operand, extents);
  double copies = 1;
  for (int i = 0; i < stage.cpu().parallel; ++i) {
    const int p = stage.order.front()[i];
    copies *= static_cast<double>(trip_count(context.loops, stage, p, 0));
    extents[p] = stage.tiles[p].front();
  }
  return copies * context.bytes(operand, extents) <= context.target->threads * whole ? stage.cpu().parallel : 0;
}

}  // namespace

void copy_rows(const StageContext& context, NestSchedule& stage, const codegen::MatrixTiles& tiles, int depth) {
  std::erase_if(stage.packings, [&](const codegen::Packing& one) { return one.operand == tiles.row_operand; });
  codegen::Packing copy = panel_packing(context, stage, tiles.row_operand);
  put_first(copy, tiles.row_dimension);
  copy.depth = depth;
  stage.packings.push_back(copy);
  std::sort(stage.packings.begin(), stage.packings.end());
}

std::vector<RegisterTile> matrix_tiles_by_cost(const StageContext& context) {
  const auto forms = dot_products_of(context);
  std::vector<RegisterTile> tiles;
  if (std::find(forms.begin(), forms.end(), DotForm::Tiles) == forms.end() || keeps_order(context) ||
      context.reductions() == 0 || context.loops.operands.size() != 2 ||
      !codegen::borders_of(context.program->statements[context.statement], context.loops))
    return tiles;
  const auto& operands = context.loops.operands;
  for (int v = 0; v < context.outputs(); ++v)
    for (int p = 0; p < context.outputs(); ++p)
      for (const size_t row : {0, 1}) {
        const Operand &rows = operands[row], &columns = operands[1 - row];
        const auto walks = [&](const Operand& operand, int loop) { return context.loops.is_walked(operand, loop); };
        if (p == v || !rows.affine || !columns.affine || !walks(columns, v) || walks(rows, v) || !walks(rows, p) ||
            walks(columns, p))
          continue;
        for (int r = 0; r < context.reductions(); ++r)
          if (groups(context, {rows, columns, v, p, r}) > 1) add_tiles(context, {rows, columns, v, p, r}, tiles);
      }
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const RegisterTile& a, const RegisterTile& b) { return a.cost < b.cost; });
  return tiles;
}

std::optional<NestSchedule> with_matrix_tiles(const StageContext& context, NestSchedule stage) {
  set_dot_product(stage, DotForm::Tiles);
  stage.partial_sums = 0;
  stage.reduction_unroll.assign(stage.reduction_unroll.size(), 1);
  const auto tiles = codegen::matrix_tiles(context.program->statements[context.statement], context.loops, stage);
  if (!tiles) return std::nullopt;
  suit_copies(context, stage, *tiles, 0);
  if (!codegen::suits_operands(*context.program, context.loops, stage, *tiles)) return std::nullopt;
  for (auto& copy : stage.packings) {
    const bool has_borders = std::any_of(tiles->borders.begin(), tiles->borders.end(),
                                         [&](const auto& border) { return border.operand == copy.operand; });
    if (codegen::is_packed_beforehand(*context.program, context.loops.operands[copy.operand])) continue;
    const int depth = depth_of_copy(context, stage, copy.operand);
    if (has_borders || (copy.operand == tiles->row_operand && copy.depth == 0)) copy.depth = depth;
  }
  return stage;
}

void drop_matrix_tiles(NestSchedule& stage, Notes& notes) {
  correct(stage, codegen::without_matrix_tiles(stage), "its nest has no place for tiles of a matrix unit", notes);
}

void repair_matrix_tiles(const StageContext& context, NestSchedule& stage, Notes& notes) {
  if (!stage.dot_tiles) return;
  const auto& statement = context.program->statements[context.statement];
  NestSchedule tiled = stage;
  const int v = tiled.cpu().vector_loop;
  const auto dot = codegen::dot_product(statement, context.loops, tiled);
  if (!dot || dot->in_lanes) return drop_matrix_tiles(stage, notes);
  const auto is_row = [&](int p) {
    const auto& operands = context.loops.operands;
    return p != v && context.loops.is_walked(operands[1 - dot->column], p) &&
           !context.loops.is_walked(operands[dot->column], p);
  };
  int rows = -1;
  for (int p = 0; p < context.outputs(); ++p)
    if (is_row(p) && (rows < 0 || tiled.tiles[p].back() > tiled.tiles[rows].back())) rows = p;
  for (int p = 0; p < context.outputs(); ++p)
    if (p != v && p != rows) tiled.tiles[p].back() = 1;
  while (rows >= 0 && tiled.tiles[rows].back() > 1 &&
         !codegen::fits_tile_registers(tiled.tiles[rows].back(), tiled.tiles[v].back(),
                                       (tiled.reduction_block[dot->loop] + dot->width - 1) / dot->width)) {
    if (tiled.tiles[v].back() > 4 * kTileColumns)
      codegen::shrink_register_tile(tiled.tiles[v], kTileColumns);
    else
      codegen::shrink_register_tile(tiled.tiles[rows], 1);
  }
  for (int r = 0; r < context.reductions(); ++r)
    if (r != dot->loop) tiled.reduction_unroll[r] = 1;
  const auto tiles = codegen::matrix_tiles(statement, context.loops, tiled);
  if (!tiles) return drop_matrix_tiles(stage, notes);
  suit_copies(context, tiled, *tiles, panel_packing(context, tiled, tiles->row_operand).depth);
  stage = tiled;
}

}  // namespace tile_tune::search
