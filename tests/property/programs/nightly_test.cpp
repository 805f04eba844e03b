// Hundreds of random programs of every kind, each by its default schedule and three others.
#include <catch2/catch.hpp>

#include "tests/property/programs/judge.h"

using tile_tune::test::judge_random_programs;
using tile_tune::test::Theme;

TEST_CASE("hundreds of random programs, part 1", "[nightly]") { judge_random_programs(10'000, 300, 3); }
TEST_CASE("hundreds of random programs, part 2", "[nightly]") { judge_random_programs(20'000, 300, 3); }
TEST_CASE("hundreds of random programs with guarded reads", "[nightly]") {
  judge_random_programs(30'000, 200, 3, Theme::Guards);
}
TEST_CASE("hundreds of random programs with signs", "[nightly]") {
  judge_random_programs(40'000, 150, 3, Theme::Signs);
}
TEST_CASE("hundreds of random programs of halves", "[nightly]") {
  judge_random_programs(50'000, 150, 3, Theme::Halves);
}
TEST_CASE("hundreds of random programs with gathers", "[nightly]") {
  judge_random_programs(60'000, 150, 3, Theme::Gathers);
}
TEST_CASE("hundreds of random programs for a deterministic target", "[nightly]") {
  judge_random_programs(70'000, 150, 3, Theme::Any, tile_tune::codegen::deterministic(tile_tune::test::host(2)));
}
