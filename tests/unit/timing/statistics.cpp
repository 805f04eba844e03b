#include "search/timing/statistics.h"

#include "search/timing/roofline.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace tile_tune::search;

TEST_CASE("median and quantiles interpolate between order statistics") {
  CHECK(median({7}) == 7);
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(quantile({10, 20, 30, 40, 50}, 0.25) == 20);
  CHECK(quantile({10, 20, 30, 40}, 0.25) == Approx(17.5));
  CHECK(quantile({10, 20}, 1.0) == 20);
  CHECK(quantile({-3, -1}, 0.0) == -3);
}

TEST_CASE("the bootstrap interval holds the median, is repeatable, and narrows with more samples") {
  std::vector<double> few, many;
  for (int i = 0; i < 31; ++i) few.push_back((i * 7) % 31);
  for (int i = 0; i < 1001; ++i) many.push_back((i * 7 % 31));
  const Interval interval = bootstrap_median(few, 5);
  CHECK(interval.lo < 15);
  CHECK(interval.hi > 15);
  // The order statistics 10 and 22 of 31 bound the exact 95 % interval of a median.
  CHECK(interval.lo == Approx(9).margin(2));
  CHECK(interval.hi == Approx(21).margin(2));
  const Interval again = bootstrap_median(few, 5);
  CHECK(again.lo == interval.lo);
  CHECK(again.hi == interval.hi);
  const Interval narrow = bootstrap_median(many, 5);
  CHECK(narrow.hi - narrow.lo < interval.hi - interval.lo);
  const Interval constant = bootstrap_median({2, 2, 2}, 1);
  CHECK(constant.lo == 2);
  CHECK(constant.hi == 2);
}

TEST_CASE("the interval of a ratio is made of six rounds at least; fewer say how far apart they are") {
  CHECK_FALSE(ratio_interval({}, 1));
  CHECK_FALSE(ratio_interval({0.1}, 1));
  CHECK_FALSE(ratio_interval({0.1, 0.1}, 1));
  const auto three = ratio_interval({std::log(1.2), std::log(1.1), std::log(1.5)}, 1);
  REQUIRE(three);
  CHECK(three->lo == Approx(1.1 * 0.85));
  CHECK(three->hi == Approx(1.5 / 0.85));
  const auto five = ratio_interval(std::vector<double>(5, 0.0), 1);
  REQUIRE(five);
  CHECK(five->lo == Approx(0.85));
  const auto six = ratio_interval(std::vector<double>(6, std::log(2.0)), 1);
  REQUIRE(six);
  CHECK(six->lo == Approx(2));
  CHECK(six->hi == Approx(2));
}

TEST_CASE("rounds whose share of a roof is beyond it are left out of the shares") {
  Timing timing;
  timing.flop_fractions = {0.5, 1.2, 0.6, 0.7, 0.5};
  timing.bandwidth_fractions = {0.1, 0.2, 2.9, 0.3, 1.04};
  Timing in_cache = timing;
  keep_below_roof(timing, true);
  CHECK(timing.flop_fractions == std::vector<double>{0.5, 0.7, 0.5});
  CHECK(timing.bandwidth_fractions == std::vector<double>{0.1, 0.3, 1.04});
  keep_below_roof(in_cache, false);
  CHECK(in_cache.flop_fractions == std::vector<double>{0.5, 0.6, 0.7, 0.5});
}

TEST_CASE("short calls are bundled to 200 microseconds") {
  CHECK(calls_per_sample(200e3) == 1);
  CHECK(calls_per_sample(1e9) == 1);
  CHECK(calls_per_sample(199e3) == 2);
  CHECK(calls_per_sample(1e3) == 200);
  CHECK(calls_per_sample(0) == 200000);
}

TEST_CASE("successive halving") {
  CHECK(halving_rungs(0) == 1);
  CHECK(halving_rungs(1) == 1);
  CHECK(halving_rungs(2) == 1);
  CHECK(halving_rungs(3) == 2);
  CHECK(halving_rungs(4) == 2);
  CHECK(halving_rungs(5) == 3);
  CHECK(halving_rungs(16) == 4);
  const std::vector<double> scores = {-0.5, 0.25, 0.0, 0.25, -1.0};
  CHECK(better_half({0, 1, 2, 3, 4}, scores) == std::vector<int>{1, 3, 2});
  CHECK(better_half({4, 2}, scores) == std::vector<int>{2});
  CHECK(better_half({}, scores).empty());
}

TEST_CASE("shuffling is a permutation that only the engine's state decides") {
  std::vector<int> a = {0, 1, 2, 3, 4, 5, 6, 7}, b = a;
  std::mt19937_64 first(1), second(1);
  shuffle(a, first);
  shuffle(b, second);
  CHECK(a == b);
  CHECK(a != std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  std::sort(a.begin(), a.end());
  CHECK(a == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a kernel faster than its roof says that the probes were disturbed") {
  Timing timing;
  CHECK_FALSE(beyond_roof(timing, true));  // nothing was probed
  timing.flop_fractions = {0.9, 1.04, 3.0};
  timing.bandwidth_fractions = {0.2, 1.2, 1.3};
  CHECK_FALSE(beyond_roof(timing, false));  // its data is in the cache, which is faster than memory
  CHECK(beyond_roof(timing, true));
  timing.flop_fractions = {0.9, 1.06, 1.06};
  CHECK(beyond_roof(timing, false));
}
