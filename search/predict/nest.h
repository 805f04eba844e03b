// The loop nest a stage's schedule stands for, as counts: which loops run how often around what, and how much of each
// operand a pass through their insides touches. Nothing is built for it.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/schedule/loops.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::predict {

/// One loop of the nest.
struct NestLoop {
  int loop = 0;       // output loop p, or P + r for reduction loop r
  double trips = 1;   // the last, moved-back tile included
  bool tiles = true;  // a loop over output tiles; false: over blocks or elements of a reduction
};

struct Nest {
  std::vector<NestLoop> loops;              // outermost first, loops of one trip included
  std::vector<std::vector<int64_t>> inner;  // inner[d]: iterations of each loop inside the d outermost loops of the
                                            // nest; one entry more than loops, the last the unrolled body's
  std::vector<int> at_depth;                // nest depth of a packing's `depth`
  bool home = false;                        // results are collected in a buffer (codegen::has_home)

  /// How often what lies inside the d outermost loops runs.
  double runs(size_t d) const;
};

/// `stage` must be valid and not inlined.
Nest nest_of(const codegen::Loops& loops, const codegen::NestSchedule& stage, bool home);

/// Bytes of the cache lines that the elements of `operand` lie in, for iterations `tile` of each loop. Stored in its
/// tensor's layout, or, `packed`, in a copy whose storage order is given, innermost first.
double line_bytes(const ir::Program& program, const codegen::Loops& loops, const codegen::Operand& operand,
                  const std::vector<int64_t>& tile, const std::vector<int>* packed);

/// The same of what the statement writes, at `element_bytes` each.
double output_bytes(const ir::Program& program, const ir::Statement& statement, const codegen::Loops& loops,
                    const std::vector<int64_t>& tile, int64_t element_bytes);

}  // namespace tile_tune::predict
