// One statement as Halide Funcs, shaped by the structural choices of its NestSchedule.
//
// Which Funcs there are (packed operands, partial sums in vector lanes or per block of the reduction) depends
// on the schedule; how their loops run is apply()'s business. All Funcs of a stage share one set of Vars, one
// per output loop; where the output loops are not the target's dimensions (Loops::direct), `result` spreads the
// elements over the target, with Vars of its own. Funcs with complex elements are Tuples.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "Halide.h"
#include "codegen/lower/packed.h"
#include "codegen/lower/runtime_program.h"
#include "codegen/lower/scan.h"

namespace tile_tune::codegen {

struct Stage {
  Loops loops;
  std::vector<Halide::Var> vars;           // by output loop
  std::vector<int64_t> extents;            // by output loop: iterations in one run of the nest (Fusion::extents)
  std::vector<int64_t> reduction_extents;  // by reduction loop, of one piece if the reduction runs in parallel
  Halide::Var piece;                       // of parallel reductions: the last dimension of `tiled` and accumulators
  std::vector<int> buffer_order;           // output loops from fastest to slowest in the target's layout
  std::vector<Halide::Var> result_vars;    // of `result`, fastest first
  std::vector<Halide::Expr> result_extents;
  std::vector<Halide::Expr> runtime_extents;  // by output loop; undefined: a number, that of `extents`
  bool all_guarded = false;              // the last tiles of loops with a runtime extent, instead of being moved back
  std::vector<bool> runtime_reductions;  // by reduction loop
  bool deterministic = false;            // bits follow from the statement and its inputs alone, not from the loops
  Halide::Func result;                   // the target's elements
  Halide::Func tiled;     // carries the tile nest: `result`, or a Func of its own, which `result` spreads over the
                          // target adds to the caller's value where shifted last tiles would add it twice, or
                          // combines from the pieces of a parallel reduction
  Halide::Func assigned;  // defined where only a search tells whether an element has a valid assignment
  // Reductions only:
  Halide::Func accumulator;             // arguments: vector loop first
  Halide::Func partial;                 // defined if results have a home or the reduction runs in lanes
  std::vector<Halide::RVar> unrolled;   // reduction loops of `partial` if defined, else of `accumulator`, in their
  std::vector<Halide::RVar> reduction;  // one order, innermost first: the unrolled ones, then the others
  bool home = false;                    // the accumulator is a buffer for one of the outermost tiles (has_home)
  int contiguous = -1;                  // output loop along which results are neighbours in memory
  std::vector<Halide::RVar> block;  // blocked reductions: loops over blocks in `accumulator`'s update, innermost first
  Halide::Var lane;                 // reductions in lanes: dimension of `partial`
  int64_t lane_extent = 0;
  std::vector<std::pair<Halide::Func, int>> folds;  // halving the lanes: Func and its lane extent
  bool has_tail = false;                            // accumulator has an update over the iterations no vector holds
  std::vector<Halide::RVar> tail;                   // its loops, innermost first
  std::optional<Totals> totals;                     // instead of all these, of a scan
  std::vector<PackedOperand> packed;
  std::optional<int> guarded;  // the output loop whose last tile computes beyond the border instead of being moved back
  std::optional<DotProduct> dot;  // its iterations are the first of `unrolled`
  int outputs() const { return static_cast<int>(loops.output.size()); }
  int reductions() const { return static_cast<int>(loops.reduction.size()); }
  /// Some loop runs over a size that is known when the kernel is called.
  bool has_runtime_loop() const;
  Halide::Func shift;  // defined if dot->shifted: sums of the packed operand, arguments: the vector loop first
  std::vector<Halide::RVar> shift_reduction;  // its loops, innermost first, the instruction's iterations before them
};

/// Funcs that hold each tensor's elements so far, arguments in buffer order (fastest first).
using TensorFuncs = std::map<int, Halide::Func>;

/// Of the buffer that holds an input.
std::string parameter_name(int tensor);

/// Halide arguments of a tensor's Func from subscripts in the IR's order.
std::vector<Halide::Expr> buffer_arguments(const ir::Tensor& tensor, const std::vector<Halide::Expr>& subscripts);

/// `forms`: of the constants that are packed beforehand, whose Funcs in `tensors` hold these. `vars` are those of the
/// output loops; empty: new ones. `runtime` may be null. `deterministic`: Stage::deterministic.
Stage make_stage(const ir::Program& program, int statement, const NestSchedule& schedule, const TensorFuncs& tensors,
                 const std::vector<PackedForm>& forms, const RuntimeProgram* runtime = nullptr,
                 const std::vector<Halide::Var>& vars = {}, bool deterministic = false);

/// The tile loops of a nest, outermost first, for what is computed inside them.
struct Nest {
  Halide::Func func;
  std::vector<Halide::Var> loops;  // the parallel ones fused into one, the first
  int fused_away = 0;              // loops of the schedule's nest that `loops` lacks for that

  /// Inside the `depth` outermost loops of the schedule's nest.
  Halide::LoopLevel at(int depth) const { return Halide::LoopLevel(func, loops[depth - 1 - fused_away]); }
};

/// Schedules every Func of a statement's stage with a nest. Its Funcs are computed at `where`; an output of the pipeline
/// has none.
Nest apply(const NestSchedule& schedule, const ir::Statement& statement, Stage& stage, const Target& target,
           const std::optional<Halide::LoopLevel>& where);

}  // namespace tile_tune::codegen
