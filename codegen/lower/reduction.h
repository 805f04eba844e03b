// The Funcs of a statement's reduction: one alternative for each way in which a schedule adds up its terms.
//
// How their loops run is the directives' business (apply.h). Loops of reductions stand innermost first.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "Halide.h"
#include "codegen/lower/scan.h"
#include "codegen/lower/terms.h"

namespace tile_tune::codegen {

/// A Func whose update adds up terms of the statement in a register tile.
struct RegisterSums {
  Halide::Func func;                           // arguments: the vector loop first
  std::vector<Halide::RVar> unrolled, others;  // loops of the update; a dot product's iterations are the first
  int steps_at_once = 1;  // iterations of the first of the others that are unrolled, if some are left over
                          // (may_leave_some())
};

/// The whole reduction, or one of its parallel pieces, in registers. On a GPU its operands may be staged between blocks
/// of it.
struct PlainReduction {
  RegisterSums sums;
  std::vector<Halide::RVar> blocks{};  // the outermost loops of the sums' update
};

/// Sums of one block of the reduction in registers; the accumulator, at home in cache, adds up the blocks or, if there
/// is only one, holds its sums.
struct BlockedReduction {
  RegisterSums partial;
  Halide::Func accumulator;
  std::vector<Halide::RVar> blocks;  // loops of the accumulator's update, if it has one
};

/// Every lane of a vector, or every one of an element's partial sums, has a share of the iterations; folds halve the
/// lanes. Iterations that fill no vector are added by the last lanes of a vector that begins earlier or, where they are
/// fewer than its instructions, one by one to the accumulator: 3093 rows of 26 by a vector took 6.6 us with two left
/// over, 3.7 so (two Zen 4 cores, 2026-11-26).
struct LaneReduction {
  RegisterSums partial;
  Halide::Var lane;  // the first dimension of `partial` and of the folds
  int64_t lanes = 0;
  int64_t at_once = 1;                              // of these in a vector; 1: they lie apart
  std::vector<std::pair<Halide::Func, int>> folds;  // and how many lanes each has
  Halide::Func accumulator;
  std::optional<RegisterSums> last;               // the partial sums' second update, if they have one
  std::optional<std::vector<Halide::RVar>> tail;  // loops of the accumulator's update, if it has one
};

/// Every thread of a GPU that shares an element's reduction sums a part of the iterations in registers; in shared
/// memory these sums become fewer step by step, and the accumulator adds up the last of them.
struct SharedReduction {
  struct Loops {
    std::vector<Halide::RVar> unrolled, others;
  };
  Halide::Func partial;
  std::vector<Loops> updates;                       // of `partial`: whole rounds of all threads, and what is left over
  Halide::Var share;                                // a dimension of `partial` and of the steps: the threads that share
  bool comes_first = true;                          // which are neighbours (shares_come_first())
  std::vector<std::pair<Halide::Func, int>> steps;  // and their shares; the first are those of the threads themselves
  Halide::Func accumulator;
};

/// Totals, as scan.h has them, are the last.
using Reduction = std::variant<PlainReduction, BlockedReduction, LaneReduction, SharedReduction, Totals>;

/// What holds an element's result, by the stage's output loops.
const Halide::Func& accumulator_of(const Reduction& reduction);
/// The Funcs that the nest computes for it in registers or at home.
std::vector<Halide::Func> funcs_of(const Reduction& reduction);

/// Dot products whose packed operand was shifted to be unsigned: sums of it, by which the results are off.
struct Shift {
  Halide::Func func;
  std::vector<Halide::RVar> loops;  // the instruction's iterations first
};

/// How terms are combined. An assignment spread over reduction loops has at most one valid term, so it is their sum.
ir::Aggregation reduction_op(const ir::Statement& statement);

/// Of a statement with reduction loops.
Reduction make_reduction(const KernelContext& kernel, int statement, const NestSchedule& schedule,
                         const StageLoops& stage, const Terms& terms);

/// nullopt where the stage's dot products need none.
std::optional<Shift> make_shift(const KernelContext& kernel, int statement, const NestSchedule& schedule,
                                const StageLoops& stage, const Terms& terms);

}  // namespace tile_tune::codegen
