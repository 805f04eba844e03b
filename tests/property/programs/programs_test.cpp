// Random programs: kernels of every schedule compute what the reference does. A few hundred seeds, the same in every
// run, in parts that run in parallel; thousands are in nightly_test.cpp.
#include <catch2/catch.hpp>

#include "tests/property/programs/judge.h"

using tile_tune::test::judge_random_programs;

TEST_CASE("random programs, part 1", "[property]") { judge_random_programs(1, 50, 1); }
TEST_CASE("random programs, part 2", "[property]") { judge_random_programs(51, 50, 1); }
TEST_CASE("random programs, part 3", "[property]") { judge_random_programs(101, 50, 1); }
TEST_CASE("random programs, part 4", "[property]") { judge_random_programs(151, 50, 1); }
TEST_CASE("random programs with guarded reads", "[property]") { judge_random_programs(5'000, 250, 1, "guarded read"); }
