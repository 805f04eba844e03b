// A random program's kernels against the reference.
#pragma once

#include <cstdint>
#include <string>

namespace tile_tune::test {

/// Kernels of the programs of `count` seeds from `first` on: by the default schedule, and by as many random schedules
/// as told. Fails the test case where one differs from the reference, and where too few programs are accepted. With a
/// `kind` (generator.h) only the programs that have it.
void judge_random_programs(uint64_t first, int count, int schedules, const std::string& kind = "");

}  // namespace tile_tune::test
