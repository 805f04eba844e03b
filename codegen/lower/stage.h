// One statement as Halide Funcs, shaped by the structural choices of its NestSchedule.
//
// Which Funcs there are (packed operands, partial sums in vector lanes or per block of the reduction) depends
// on the schedule; how their loops run is apply()'s business. Where the output loops are not the target's dimensions
// (Loops::direct), a last Func spreads the elements over the target, with Vars of its own. Funcs with complex elements
// are Tuples. A stage is made once, by make_stage(), and stays as it is.
#pragma once

#include <optional>
#include <vector>

#include "Halide.h"
#include "codegen/lower/reduction.h"

namespace tile_tune::codegen {

/// What holds the target's elements, and what the tile nest computes.
struct StoredElements {
  Halide::Func result;
  std::vector<Halide::Var> vars;  // its arguments, fastest first; of parts side by side but for theirs
  std::vector<Halide::Expr> extents;
  /// `result`, or a Func of its own that `result` takes up: spreads over the target, adds to the caller's value where
  /// last tiles that are moved back would add it twice, or combines from the pieces of a parallel reduction.
  Halide::Func tiled;
  /// Of many pieces on a GPU: each of `count` threads combines some of an element's, which `result` combines.
  struct PieceGroups {
    Halide::Func func;
    Halide::Var group;  // its first argument
    int count = 0;
  };
  std::optional<PieceGroups> groups{};

  bool has_own_nest() const { return tiled.name() != result.name(); }
};

struct Stage : StageLoops {
  std::vector<PackedOperand> packed;
  std::optional<Reduction> reduction;
  std::optional<Shift> shift;
  StoredElements stored;
  std::optional<Halide::Func> assigned;  // where only a search tells whether an element has a valid assignment
};

/// `tensors`: what the statement's expressions read, and the values before. `vars` are those of the output loops;
/// empty: new ones.
Stage make_stage(const KernelContext& kernel, int statement, const NestSchedule& schedule, const TensorFuncs& tensors,
                 const std::vector<Halide::Var>& vars = {});

}  // namespace tile_tune::codegen
