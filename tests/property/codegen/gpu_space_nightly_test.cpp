#include <catch2/catch.hpp>

#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_space_checks.h"

namespace tile_tune {

TEST_CASE("16 random schedules of the GPU space of each program are right on odd sizes", "[nightly]") {
  test::check_right_on_opencl(16);
}

TEST_CASE("24 random schedules of the GPU space of each program are assembled without stack and spills", "[nightly]") {
  test::check_assembled(24, 0.98);
}

// A kernel takes seconds to build on a CPU, a program three (2026-11, Zen 4). Every run has the first seeds.
TEST_CASE("12 random nests within what check() takes, of programs of every kind", "[nightly]") {
  test::check_random(GENERATE(range(2U, 14U)), GENERATE(from_range(test::gpu_cases())));
}

}  // namespace tile_tune
