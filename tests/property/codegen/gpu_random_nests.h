// Random GPU nests of programs of every kind, judged on OpenCL: a few in every run, many at night.
#pragma once

#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "frontend/ir/program.h"

namespace tile_tune::test {

struct GpuCase {
  std::string text;
  ir::Sizes sizes;
};

const std::vector<GpuCase>& gpu_cases();

/// Checks its values; without an OpenCL device a warning says that it is skipped.
void expect_right(const ir::Program& program, const codegen::Schedule& schedule);

/// ... of a nest drawn with this seed.
void check_random(unsigned seed, const GpuCase& one);

}  // namespace tile_tune::test
