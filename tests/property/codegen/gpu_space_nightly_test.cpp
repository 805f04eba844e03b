#include <catch2/catch.hpp>

#include "tests/property/codegen/gpu_space_checks.h"

namespace tile_tune {

TEST_CASE("200 random schedules of the GPU space of each program are right on odd sizes", "[nightly]") {
  test::check_right_on_opencl(200);
}

TEST_CASE("60 random schedules of the GPU space of each program are assembled without stack and spills", "[nightly]") {
  test::check_assembled(60, 0.98);
}

}  // namespace tile_tune
