// A random program's kernels against the reference.
#pragma once

#include <cstdint>

#include "tests/property/codegen/kernel_check.h"
#include "tests/property/programs/generator.h"

namespace tile_tune::test {

/// Kernels of the programs of `count` seeds from `first` on: by the default schedule, and by as many random schedules
/// as told. Fails the test case where one differs from the reference, and where too few programs are accepted.
void judge_random_programs(uint64_t first, int count, int schedules, Theme theme = Theme::Any,
                           const codegen::Target& target = host(2));

}  // namespace tile_tune::test
