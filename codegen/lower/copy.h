// How a packed copy walks its dimensions. Where the copy is contiguous along another dimension than its source, vectors
// along either one would load or store elements one by one: 2.2 ns an element in a 512 x 512 array of floats on a core
// of Zen 4, whose rows fall into the same sets of the first cache. Blocks that are loaded by rows and stored by columns
// are transposed in registers instead: 0.2 ns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/lower/packed.h"

namespace tile_tune::codegen {

/// Dimensions of more than one element, from that of neighbours in memory outwards.
std::vector<int> dimensions_in_memory(const ir::Tensor& tensor);

/// Sides of the part of `operand` that a run over `extents` iterations of each loop (output loops, then reduction
/// loops) reads, by dimension.
std::vector<int64_t> sides(const Loops& loops, const Operand& operand, const std::vector<int64_t>& extents);

/// Blocks of `rows` steps along the copy's contiguous dimension by `lanes` along its source's. Dimensions that both
/// have next to each other, and that are copied as a whole, count as one: the taps of a filter and its channels.
struct Transposition {
  std::vector<int> source;  // dimensions that lie one inside the other in the source, and in the copy outside of `copy`
  int copy = 0;             // dimension contiguous in the copy
  int64_t lanes = 1, rows = 1;
  bool exact = true;  // the copied region has at least one block each way, whatever Halide finds of it
};

/// nullopt where both are contiguous along one dimension, or blocks would be of less than 4 elements each way.
/// `region`: sides of what is copied at a time.
std::optional<Transposition> transposition(const PackedOperand& packed, const std::vector<int64_t>& region, int lanes);

/// A loop of a copy and its iterations; 0 for loops inside a block or vector.
struct CopyLoop {
  Halide::Var var;
  int64_t trips = 0;
};

/// Splits the copy's Func into blocks, which are unrolled vectors; returns its loops, innermost first.
std::vector<CopyLoop> in_blocks(const PackedOperand& packed, const Transposition& blocks,
                                const std::vector<int64_t>& region);

}  // namespace tile_tune::codegen
