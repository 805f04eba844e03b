// One statement as Halide Funcs, shaped by the structural choices of its StageSchedule.
//
// Which Funcs there are (packed operands, partial sums in vector lanes or per block of the reduction) depends
// on the schedule; how their loops run is apply()'s business. All Funcs of a stage share one set of Vars, one
// per output loop; where the output loops are not the target's dimensions (Loops::direct), `result` spreads the
// elements over the target, with Vars of its own. Funcs with complex elements are Tuples.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "Halide.h"
#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

struct PackedOperand {
  Packing choice;
  Halide::Func func;  // arguments: the operand tensor's dimensions, in subscript order
  std::vector<Halide::Var> vars;
  std::vector<int64_t> extents;  // of the whole tensor, which a copy made once for the stage holds at most
};

struct Stage {
  Loops loops;
  std::vector<Halide::Var> vars;         // by output loop
  std::vector<int> buffer_order;         // output loops from fastest to slowest in the target's layout
  std::vector<Halide::Var> result_vars;  // of `result`, fastest first
  std::vector<int64_t> result_extents;
  Halide::Func result;    // the target's elements
  Halide::Func tiled;     // carries the tile nest: `result`, or a Func of its own, which `result` spreads over the
                          // target or adds to the caller's value where shifted last tiles would add it twice
  Halide::Func assigned;  // defined where only a search tells whether an element has a valid assignment
  // Reductions only:
  Halide::Func accumulator;             // arguments: vector loop first
  Halide::Func partial;                 // defined if the reduction is blocked or runs in lanes
  std::vector<Halide::RVar> unrolled;   // reduction loops of `partial` if defined, else of `accumulator`, in their
  std::vector<Halide::RVar> reduction;  // one order, innermost first: the unrolled ones, then the others
  std::vector<Halide::RVar> block;  // blocked reductions: loops over blocks in `accumulator`'s update, innermost first
  Halide::Var lane;                 // reductions in lanes: dimension of `partial`
  int64_t lane_extent = 0;
  std::vector<std::pair<Halide::Func, int>> folds;  // halving the lanes: Func and its lane extent
  bool has_tail = false;                            // accumulator has an update over the iterations no vector holds
  std::vector<Halide::RVar> tail;                   // its loops, innermost first
  std::vector<PackedOperand> packed;
};

/// Funcs that hold each tensor's elements so far, arguments in buffer order (fastest first).
using TensorFuncs = std::map<int, Halide::Func>;

/// Halide arguments of a tensor's Func from subscripts in the IR's order.
std::vector<Halide::Expr> buffer_arguments(const ir::Tensor& tensor, const std::vector<Halide::Expr>& subscripts);

Stage make_stage(const ir::Program& program, int statement, const StageSchedule& schedule, const TensorFuncs& tensors);

/// Schedules every Func of a stage. A stage that is no output of the pipeline is computed at root, unless inlined.
void apply(const StageSchedule& schedule, Stage& stage, const Target& target, bool is_output);

}  // namespace tile_tune::codegen
