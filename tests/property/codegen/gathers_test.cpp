#include <catch2/catch.hpp>

#include "gathers.h"

TEST_CASE("random gathers with their checks compute what the reference does, whatever the indices are") {
  tile_tune::test::expect_right_gathers(1, 12);
}
