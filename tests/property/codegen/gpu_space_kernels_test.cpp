#include <catch2/catch.hpp>

#include "tests/property/codegen/gpu_space_checks.h"

namespace tile_tune {

TEST_CASE("defaults and random schedules of the GPU space are right on odd sizes") { test::check_right_on_opencl(1); }

TEST_CASE("defaults and random schedules of the GPU space are assembled without stack and spills") {
  test::check_assembled(1, 0.98);
}

}  // namespace tile_tune
