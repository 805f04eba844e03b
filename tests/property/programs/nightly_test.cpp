// Thousands of random programs, each by its default schedule and three others.
#include <catch2/catch.hpp>

#include "tests/property/programs/judge.h"

using tile_tune::test::judge_random_programs;

TEST_CASE("thousands of random programs, part 1", "[nightly]") { judge_random_programs(10'000, 1500, 3); }
TEST_CASE("thousands of random programs, part 2", "[nightly]") { judge_random_programs(20'000, 1500, 3); }
TEST_CASE("thousands of random programs with guarded reads", "[nightly]") {
  judge_random_programs(30'000, 4000, 3, "guarded read");
}
