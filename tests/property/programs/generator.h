// Random programs that keep to the IR's rules, for comparing what computes them.
//
// One to four statements of rank 0 to 4 over extents mostly of 1 to 9, some of 17 to 67 or 0: every element type and
// aggregation, initial and default tensors, constraints, quotients, gathers, guarded reads, targets that are no plain
// indices, reads of earlier statements, column layouts. Functions are called where they are defined and well
// conditioned, and what jumps (comparisons, floor, conversions to integers) is applied to exact values only, since the
// reference computes in double (decision 10). The same seed gives the same program everywhere.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "frontend/ir/program.h"

namespace tile_tune::test {

struct RandomProgram {
  ir::Program program;          // valid, bound, canonical
  std::set<std::string> kinds;  // what occurs in it: "sum", "f16", "gather", "diagonal target", ...
};

/// What every statement of a program has: a read in a branch, a sign that is flipped or cleared and often inverted,
/// elements of a half type, a subscript that is known at run time only; or whatever comes.
enum class Theme { Any, Guards, Signs, Halves, Gathers };

/// nullopt where bind() refuses what was drawn, as when two assignments write one element.
std::optional<RandomProgram> random_program(uint64_t seed, Theme theme = Theme::Any);

}  // namespace tile_tune::test
