// Turns a NestSchedule into Halide directives. The nest of a tiled Func, outermost first:
//
//   parallel { order[0] loops ... } order[0] rest ... order[L-1] loops | register tile (vector, unrolled)
//
// Accumulators live inside the innermost tile loop, in registers. Where results have a home (has_home) it is a
// buffer inside the order[0] loops; the loops of order[1..] then belong to what fills it, inside the loops over
// blocks of the reduction if there are any, and partial sums live in registers inside those.
#pragma once

#include <optional>
#include <vector>

#include "codegen/lower/stage.h"

namespace tile_tune::codegen {

/// What of a stage's nest follows from the other statements of the program.
struct NestPlacement {
  std::vector<int64_t> extents;            // by output loop: iterations in one run of the nest (Fusion::extents)
  std::optional<Halide::LoopLevel> where;  // the loop inside which it is computed; an output of the pipeline has none
  std::vector<std::optional<Halide::LoopLevel>> copies;  // by Stage::packed, for packings of depth -1: the loop of
                                                         // the enclosing nest in which the copy is made; none:
                                                         // before that nest
  StoredElements stored;                                 // the stage's own elements, or those of its epilogue
  std::optional<Halide::Var> part{};  // of complex elements whose parts the nest stores side by side: its Func's first
};

/// The tile loops of a nest, outermost first, for what is computed inside them.
struct Nest {
  Halide::Func func;
  std::vector<Halide::Var> loops;  // the parallel ones fused into one, the first
  int fused_away = 0;              // loops of the schedule's nest that `loops` lacks for that

  /// Inside the `depth` outermost loops of the schedule's nest.
  Halide::LoopLevel at(int depth) const { return Halide::LoopLevel(func, loops[depth - 1 - fused_away]); }
};

/// Gives every Func of a statement's stage with a nest its directives.
Nest apply(const NestSchedule& schedule, const ir::Statement& statement, const Stage& stage,
           const NestPlacement& placement, const Target& target);

}  // namespace tile_tune::codegen
