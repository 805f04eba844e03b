// Thousands of random sums of products.
#include <catch2/catch.hpp>

#include "tests/property/plan/random_sums.h"

TEST_CASE("thousands of sums of products in steps", "[nightly]") { tile_tune::test::judge_random_sums(1, 4000, 250); }
