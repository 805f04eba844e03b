// How a statement's loops lie around its register tile. Loops that every operand uses (batches, groups) are batches. Of
// the others those of the operands that are loaded by vectors are panels, the rest are rows.
#pragma once

#include <vector>

#include "search/space/register_tile.h"

namespace tile_tune::search {

/// Terms of a sum from which on it does not show how its results are stored: between 10 that lost and 24 that won where
/// panels are shared out.
constexpr double kLongSum = 16;

/// Terms that come to sums waiting at home at a time, at least, to pay for coming: chosen.
constexpr int64_t kLeastStepsAtHome = 24;

/// What it refers to must outlive it.
struct TileLayout {
  enum class Kind { Batch, Panel, Row };

  const StageContext& context;
  const RegisterTile& tile;

  int outputs() const { return context.outputs(); }
  int64_t stride(const codegen::Operand& operand, int loop) const { return context.distance(operand, loop); }
  /// Tiles along output loop p; of all loops of a kind; of some loops of an order.
  int64_t trips(int p) const;
  int64_t trips_of(Kind wanted) const;
  int64_t trips_of(const std::vector<int>& order, size_t begin, size_t end) const;
  bool in_panel(const codegen::Operand& operand) const {
    return !operand.affine || stride(operand, tile.vector_loop) != 0;
  }
  double bytes_of(const codegen::Operand& operand) const;
  Kind kind(int p) const;

  /// What lies otherwise than the vectors along batches is copied for each of them, by the thread that uses it.
  bool copies_batches() const;
  /// Threads can share out the vectors of batches.
  bool shares_batches() const;
  /// All is read in the order of memory.
  bool walks_memory() const;
  /// Bytes that one batch reads of the vector operands, or of the others.
  double bytes_of_batch(bool of_panels) const;
  bool repeats_in_panels() const;
  /// How many of the first loops of an order a copy is made inside of so that it does not repeat itself; no fewer than
  /// the parallel ones, else none.
  int copy_depth(const codegen::Operand& operand, const std::vector<int>& order, int depth, int parallel) const;
  /// Along this loop of panels lie the lines of an operand that is copied for vectors along another: a copy of one step
  /// alone reads an element of each line.
  bool lies_along(int p) const;
  /// Copies for all steps of such loops fit half of the second cache, there are pieces enough without them, and results
  /// are stored as they are computed.
  bool copies_whole_lines() const;
  /// Outermost first. Where copies are made outside of them, loops along which lines lie follow all other panels'.
  std::vector<int> loop_order(bool rows_outside, bool copies_lines) const;

 private:
  bool shares_lines(int p) const;
  double copied_for_tiles(const codegen::Operand& operand, const std::vector<int>& loops) const;
  bool repeats(const codegen::Operand& operand, const std::vector<int>& loops) const;
  bool stays_on_line(int p) const;
};

}  // namespace tile_tune::search
