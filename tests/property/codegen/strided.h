// Programs whose arguments lie anywhere in memory, for the tests of storage.
#pragma once

#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "frontend/ir/program.h"

namespace tile_tune::test {

struct StridedCase {
  std::string name, text;
  ir::Sizes sizes;
};
/// Of the first ten some are drawn in every test run.
const std::vector<StridedCase>& strided_cases();

/// Tensors and strides: "A=40,1 C=col ".
std::string storage_text(const ir::Program& program);

/// The default schedule, and as many others as make `count`.
std::vector<codegen::Schedule> schedules_of(const ir::Program& program, uint64_t seed, int count);

/// Draws where the arguments of a bound program lie: transposed, padded, reversed, of inputs also repeated and
/// overlapping. Its kernels, some for these strides and some for any strides of their class, have to compute what the
/// reference does and write nothing else.
void check_drawn_storage(const std::string& name, const ir::Program& plain, uint64_t seed);

}  // namespace tile_tune::test
