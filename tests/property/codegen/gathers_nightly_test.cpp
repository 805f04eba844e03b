#include <catch2/catch.hpp>

#include "gathers.h"

TEST_CASE("300 random programs of gathers compute what the reference does, whatever the indices are") {
  tile_tune::test::expect_right_gathers(1000, 300);
}
