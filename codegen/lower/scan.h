// Running totals as Funcs: every prefix of a reduction in as many steps as the reduction has.
//
// Where the totals run along memory, they are cut into chunks: each is added up for itself, all of them side by side,
// which hides the latency of one addition after the other, and then raised by the total before it. Rounding errors of
// sums grow with the length of a chunk and the number of chunks, not with their product.
#pragma once

#include <functional>
#include <vector>

#include "Halide.h"
#include "codegen/lower/values.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

struct StageLoops;

struct Totals {
  Halide::Func accumulator;        // looks an element's total up
  Halide::Func func;               // element p holds what the first p + 1 iterations combine to
  std::vector<Halide::Var> vars;   // its arguments: the output loops as the target lies in memory, the scan's replaced
  std::vector<int64_t> extents;    // by argument
  size_t position = 0;             // which argument counts iterations
  int64_t chunks = 1, length = 1;  // together at least as many as there are iterations
  Halide::RVar chunk, step;        // first update: a step along every chunk
  Halide::RVar next, inside;       // second update: a chunk raised by the total before it
};

/// `term`: the value of the reduction's iteration at this position; `identity`: what no iteration at all leaves;
/// `accumulator`: not defined yet.
Totals make_totals(const StageLoops& stage, const ir::Statement& statement, const Halide::Func& accumulator,
                   const Values& identity, const std::function<Values(const Halide::Expr& position)>& term);

void apply_totals(const NestSchedule& schedule, const Totals& totals, const Target& target);

}  // namespace tile_tune::codegen
