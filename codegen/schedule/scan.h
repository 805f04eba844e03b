// Reductions over a prefix or a suffix, such as O[i] += I[k] for k <= i: a running total has every element.
#pragma once

#include <optional>

#include "codegen/schedule/loops.h"

namespace tile_tune::codegen {

/// Where output loop `loop` is at p, the element combines the first first + step * p of the reduction's iterations
/// (none if that is negative, at most all of them), counted from the last one if `reversed`.
struct Scan {
  int loop = 0;
  bool reversed = false;
  int64_t first = 0;
  int step = 1;  // 1 or -1

  int64_t count(int64_t position) const { return first + step * position; }
};

/// nullopt unless the statement has one reduction loop, one constraint, which ties it to one output loop so that the
/// least or the largest value is always among those that count, and terms in which that output loop does not occur.
std::optional<Scan> scan_of(const ir::Statement& statement, const Loops& loops);

}  // namespace tile_tune::codegen
