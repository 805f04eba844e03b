// Which output loops of a reduction run in registers: the vector loop and the rows beside it.
//
// A model of one core that finishes one vector multiply-add a step: a step of the reduction loads a vector for every
// column of the tile and a broadcast for every row, and costs what the slower of arithmetic and loads takes. What it
// cannot hide (operands copied so that vectors are contiguous, results stored with a stride) comes on top.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/space/tile_shape.h"

namespace tile_tune::search {

struct RegisterTile : TileShape {
  double cost = 0;               // estimate for the whole statement, in vector operations of one core
  double moves = 0;              // of that, copies of operands and stores of results
  bool is_matrix_tiles = false;  // of a matrix unit (matrix_tile.h)
  int dot_loop = -1;             // reduction loop that these take groups of
};

/// Vectors of some lanes, and the share of the time of one of the natural width that an operation on them takes.
struct VectorWidth {
  int lanes = 1;
  double share = 1;
};

/// How a sum of products of narrow numbers may have dot products on this CPU: not at all, the first, as they are, or of
/// bytes in pairs, of whole tiles.
enum class DotForm : uint8_t { None, Plain, Pairs, Tiles };
std::vector<DotForm> dot_products_of(const StageContext& context);
/// The one that default schedules have.
DotForm usual_dot_product(const StageContext& context);
void set_dot_product(codegen::NestSchedule& stage, DotForm form);
DotForm dot_form(const codegen::NestSchedule& stage);

/// Iterations of a reduction that a lane takes at a time: as many as a dot-product instruction does, else one.
int iterations_in_lane(const StageContext& context);

/// The natural width first; then half of it where that takes half the time.
std::vector<VectorWidth> vector_widths(const codegen::Target& target, DType type);

/// One step of the reduction, which loads so many vectors, in vector operations; it takes no less than the latency.
double step_time(double accumulators, double loads, double share, double latency);

/// The cheapest tile of each width (loop, lanes, and number of vectors) whose accumulators fit the registers, cheapest
/// first; none where no operand is used twice by different elements (sums, pools), or nothing is left to vectorise. The
/// statement must have a reduction.
std::vector<RegisterTile> register_tiles_by_width(const StageContext& context);

/// What vectorising reduction loop `loop` costs in the same unit: the terms, then a fold over the lanes an element.
double lane_reduction_cost(const StageContext& context, int loop);

double elements_of_output(const StageContext& context);
/// Elements of the operand that the statement reads.
double whole_footprint(const StageContext& context, const codegen::Operand& operand);

/// The dimension that packing would store innermost to make vectors along a loop contiguous; -1: none would.
int packing_dimension(const StageContext& context, const codegen::Operand& operand, int loop);

}  // namespace tile_tune::search
