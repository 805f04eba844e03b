// The loops and operands of a statement that a NestSchedule speaks of, read off the canonical, bound IR.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "frontend/ir/program.h"

namespace tile_tune::codegen {

/// How far apart an operand's elements are along one loop, and how often the operand is touched by it.
struct Operand {
  int number = 0;  // counted over the statement's reads in order of appearance
  int tensor = -1;
  std::vector<ir::Subscript> subscripts;
  bool affine = true;  // every subscript is affine
};

struct Loops {
  bool direct = true;              // every subscript of the target is an index of its own, plus a constant
  std::vector<int64_t> output;     // extent of output loop p: dimension p of the target if direct, else the p-th index
                                   // that the target's subscripts use
  std::vector<int> output_index;   // statement index behind it
  std::vector<int64_t> first;      // the index's value where output loop p is at 0
  std::vector<int64_t> reduction;  // extent of reduction loop r
  std::vector<int> reduction_index;
  std::vector<Operand> operands;

  int loop_count() const { return static_cast<int>(output.size() + reduction.size()); }
  /// Stride in elements of `operand` along loop l (output loops first, then reduction loops), as its tensor is stored.
  int64_t stride(const ir::Program& program, const Operand& operand, int loop) const;
  /// The first operand that reads the same element in every iteration: a copy of one is a copy of both.
  int first_like(int operand) const;
  /// Whether loop l leads to other elements of `operand`, wherever these are stored.
  bool is_walked(const Operand& operand, int loop) const;
  /// Positions between the first and the last one that `subscript` takes when each loop l runs over tile[l] consecutive
  /// iterations, both included.
  int64_t span(const ir::AffineExpr& subscript, const std::vector<int64_t>& tile) const;
  /// Elements of `operand` touched when each loop l runs over tile[l] consecutive iterations (its bounding box).
  double footprint(const ir::Program& program, const Operand& operand, const std::vector<int64_t>& tile) const;
};

/// The copy that the operand is read from: its own, or that of another one that reads the same element; null: none.
const Packing* copy_read_by(const Loops& loops, const NestSchedule& stage, int operand);

/// The statement must be in gather form (ir/gather.h).
Loops loops_of(const ir::Program& program, const ir::Statement& statement);

/// The loops of one piece of a parallel reduction; with a scan those that look the totals up, each a reduction of one
/// step; those given if the stage has neither.
Loops one_piece(Loops loops, const NestSchedule& stage);

/// Iterations of an element that no piece of a parallel reduction has: the last ones of its loop, of all other
/// reduction loops; 0 without pieces.
int64_t left_over(const Loops& loops, const NestSchedule& stage);

/// What an unrolling of a reduction loop divides, unless it may leave some: its blocks, also the last one.
int64_t most_unrolled(int64_t extent, int64_t block);

/// Whether an unrolling of reduction loop `r` may leave iterations over, which are then computed one by one: on a CPU
/// of the innermost loop, as a whole, of sums that take one term after the other. `loops` are those of one piece of a
/// parallel reduction.
bool may_leave_some(const ir::Statement& statement, const Loops& loops, const NestSchedule& stage, int r);

/// How often a reduction loop, of one piece, comes to where its sums are kept; the last block may be shorter.
int64_t block_count(const Loops& loops, const NestSchedule& stage, int r);

/// Whether reduction loop `r` and some output loop move along one dimension of the operand: a window.
bool slides(const Loops& loops, const Operand& operand, int r);

/// Whether some operand slides along reduction loop `r`.
bool is_window(const Loops& loops, int r);

/// Whether terms can be combined with an element two at a time: those of minima and maxima of floats, all of which
/// count, ask once whether either of the two is NaN.
bool takes_pairs(const ir::Statement& statement);

/// Distance in elements between steps of output loop p where the statement's results are stored.
int64_t output_stride(const ir::Program& program, const ir::Statement& statement, const Loops& loops, int p);

/// Positions of output loop p at which the statement writes; the loop itself runs from 0 to its extent.
ir::Range written_positions(const ir::Statement& statement, const Loops& loops, int p);
/// True if those are all.
bool writes_all_of(const ir::Statement& statement, const Loops& loops, int p);

/// True if the stage cuts its reduction into blocks.
bool is_blocked(const Loops& loops, const NestSchedule& stage);

/// True if the stage collects the results of each of its outermost tiles in a buffer before it stores them: between the
/// blocks of a blocked reduction, or because vectors run along another loop than the target's neighbours, so that only
/// a tile of several register tiles holds enough of them to be transposed in registers.
bool has_home(const ir::Program& program, const ir::Statement& statement, const Loops& loops,
              const NestSchedule& stage);

/// The output loop along which results are neighbours in memory; -1 if there is none.
int contiguous_loop(const ir::Program& program, const ir::Statement& statement, const Loops& loops);

/// True if the statement adds onto the value its output buffer has on entry, so that no element may be
/// computed twice (a shifted last tile would).
bool updates_in_place(const ir::Program& program, const ir::Statement& statement);

/// True if the ranges alone keep the subscript inside [0, extent).
bool stays_inside(const ir::Statement& statement, const ir::AffineExpr& subscript, int64_t extent);

/// The statement reads the tensor, or its elements start from that one's.
bool takes_up(const ir::Statement& statement, int tensor);

/// The statement's only consumer if the statement may be computed inside it: it has no reduction, writes a
/// temporary, and exactly one later statement reads it; else -1.
int inline_consumer(const ir::Program& program, int statement);

}  // namespace tile_tune::codegen
