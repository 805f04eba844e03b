#include <catch2/catch.hpp>

#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_space_checks.h"

namespace tile_tune {

TEST_CASE("200 random schedules of the GPU space of each program are right on odd sizes", "[nightly]") {
  test::check_right_on_opencl(200);
}

TEST_CASE("60 random schedules of the GPU space of each program are assembled without stack and spills", "[nightly]") {
  test::check_assembled(60, 0.98);
}

// A kernel takes seconds to build on a CPU: every run has the first seeds.
TEST_CASE("25 random nests within what check() takes, of programs of every kind", "[nightly]") {
  test::check_random(GENERATE(range(2U, 27U)), GENERATE(from_range(test::gpu_cases())));
}

}  // namespace tile_tune
