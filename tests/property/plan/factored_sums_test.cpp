#include <catch2/catch.hpp>

#include "tests/property/plan/random_sums.h"

TEST_CASE("sums of products in steps compute what they do as written") {
  tile_tune::test::judge_random_sums(20'261'123, 250, 8);
}
