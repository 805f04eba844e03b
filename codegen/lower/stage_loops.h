// The loops of one statement's Funcs: what its schedule and the program say of them before there is any Func.
#pragma once

#include <optional>
#include <vector>

#include "Halide.h"
#include "codegen/lower/runtime_program.h"
#include "codegen/schedule/dot_product.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/matrix_tiles.h"
#include "codegen/schedule/packed_form.h"

namespace tile_tune::codegen {

/// What every stage of a kernel is made for.
struct KernelContext {
  const ir::Program& program;
  std::vector<PackedForm> forms;            // of the constants that are packed beforehand
  const RuntimeProgram* runtime = nullptr;  // of a schedule with runtime sizes
  bool deterministic = false;  // bits follow from the statements and their inputs alone, not from the loops
};

/// All Funcs of a stage share one set of Vars, one per output loop.
struct StageLoops {
  Loops loops;
  std::vector<Halide::Var> vars;           // by output loop
  std::vector<int64_t> reduction_extents;  // by reduction loop, of one piece if the reduction runs in parallel; where
                                           // dot products take several iterations, a multiple of these
  std::optional<Halide::Var> piece;        // of parallel reductions: the last dimension of what a piece computes
  std::vector<int> buffer_order;           // output loops from fastest to slowest in the target's layout
  std::vector<Halide::Expr> runtime_extents;  // by output loop; undefined: a number, as `loops` has it
  std::vector<bool> runtime_reductions;       // by reduction loop
  bool all_guarded = false;    // the last tiles of loops with a runtime extent, instead of being moved back
  std::vector<bool> overrun;   // by output loop: what a tile computes or stages beyond a border is thrown away
  std::optional<int> guarded;  // the output loop whose last tile computes beyond the border instead of being moved back
  std::optional<int> masked_loop{};  // the output loop that its one vector is longer than (masked_vector.h)
  bool deterministic = false;        // as KernelContext has it
  bool home = false;                 // results are collected in a buffer for one of the outermost tiles (has_home)
  int contiguous = -1;               // output loop along which results are neighbours in memory
  std::optional<DotProduct> dot;
  std::optional<MatrixTiles> matrix_tiles{};  // of which those are

  int outputs() const { return static_cast<int>(loops.output.size()); }
  int reductions() const { return static_cast<int>(loops.reduction.size()); }
  /// Some loop runs over a size that is known when the kernel is called.
  bool has_runtime_loop() const;
  /// The last dot product reaches beyond the end of the reduction loop, and leaves out what is there.
  bool ends_early(int reduction) const {
    return dot && !dot->in_lanes && dot->loop == reduction &&
           loops.reduction[static_cast<size_t>(reduction)] % dot->width != 0;
  }
  /// The operand's subscript moves along `masked_loop`.
  bool follows_masked_loop(int operand, size_t dimension) const;
  /// The Vars in `buffer_order`.
  std::vector<Halide::Var> in_buffer_order() const;
};

/// The name of the statement's Funcs begins so.
std::string stage_name(int statement);

/// `vars` are those of the output loops; empty: new ones.
StageLoops make_stage_loops(const KernelContext& kernel, int statement, const NestSchedule& schedule,
                            const std::vector<Halide::Var>& vars);

}  // namespace tile_tune::codegen
