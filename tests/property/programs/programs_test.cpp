// Random programs: kernels of every schedule compute what the reference does. Some hundred seeds, the same in every
// run, in parts that run in parallel; thousands are in nightly_test.cpp.
#include <catch2/catch.hpp>

#include "tests/property/programs/judge.h"

using tile_tune::test::judge_random_programs;
using tile_tune::test::Theme;

namespace {
tile_tune::codegen::Target deterministic() { return tile_tune::codegen::deterministic(tile_tune::test::host(2)); }
}  // namespace

TEST_CASE("random programs, part 1", "[property]") { judge_random_programs(51, 24, 1); }
TEST_CASE("random programs, part 2", "[property]") { judge_random_programs(101, 24, 1); }
TEST_CASE("random programs for AVX2", "[property]") {
  for (const auto& target : tile_tune::test::runnable({"x86-64-linux-sse41-avx-f16c-fma-avx2"}))
    judge_random_programs(151, 20, 1, Theme::Any, target);
}
TEST_CASE("random programs with guarded reads", "[property]") { judge_random_programs(5'000, 12, 1, Theme::Guards); }
TEST_CASE("random programs with signs, halves, gathers", "[property]") {
  for (const auto theme : {Theme::Signs, Theme::Halves, Theme::Gathers}) judge_random_programs(6'100, 5, 1, theme);
}
TEST_CASE("random programs that once went wrong", "[property]") {
  // What stands outside a target where assignments are not valid; elements with more digits than the terms that are
  // combined with them; infinities that are known beforehand.
  for (const uint64_t seed : {40'001, 40'156, 40'158, 40'257}) judge_random_programs(seed, 1, 3, Theme::Signs);
  // Parts of complex products under names that they share with other stores.
  judge_random_programs(70'223, 1, 3, Theme::Any, deterministic());
  // Sums of terms that are alike; a product of one complex number; a sum of no complex numbers.
  for (const uint64_t seed : {70'165, 70'014}) judge_random_programs(seed, 1, 3, Theme::Any, deterministic());
  judge_random_programs(30'216, 1, 3, Theme::Guards, deterministic());
  // Two doubles side by side that became a ramp; infinite factors in another order; a product of no complex numbers.
  for (const uint64_t seed : {20'043, 20'108}) judge_random_programs(seed, 1, 3);
  // 252 tangents in one unrolled body compiled for more than five minutes, 896 guarded stores for more than twelve.
  judge_random_programs(50'005, 1, 1, Theme::Halves);
  judge_random_programs(10'252, 1, 1);
}
TEST_CASE("random programs for a deterministic target", "[property]") {
  judge_random_programs(7'000, 6, 1, Theme::Any, deterministic());
}
