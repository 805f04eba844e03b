// The order of contractions.
#include <catch2/catch.hpp>

#include "frontend/plan/order.h"

using namespace tile_tune;
using namespace tile_tune::plan;

namespace {
constexpr int i = 0, j = 1, k = 2, l = 3;
}

TEST_CASE("without sizes, or with many operands, left to right") {
  const std::vector<AxisSet> chain{{i, j}, {j, k}, {k, l}};
  CHECK(best_order(chain, {i, l}, std::nullopt) == Order{{0, 1}, {3, 2}});
  CHECK(best_order({{i}}, {i}, std::nullopt).empty());
  const std::vector<AxisSet> seven(7, {i});
  CHECK(best_order(seven, {i}, std::vector<double>{5}) == Order{{0, 1}, {7, 2}, {8, 3}, {9, 4}, {10, 5}, {11, 6}});
}

TEST_CASE("the cheapest order, and the leftmost of equals") {
  const std::vector<AxisSet> chain{{i, j}, {j, k}, {k, l}};
  // (AB)C: 2*(10*100*5 + 10*5*50) = 15000 FLOP; A(BC): 2*(100*5*50 + 10*100*50) = 150000.
  CHECK(best_order(chain, {i, l}, std::vector<double>{10, 100, 5, 50}) == Order{{0, 1}, {3, 2}});
  // The chain of the suite whose order from the left costs 32 times as much.
  CHECK(best_order(chain, {i, l}, std::vector<double>{1024, 1024, 1024, 16}) == Order{{1, 2}, {0, 3}});
  CHECK(best_order(chain, {i, l}, std::vector<double>{8, 8, 8, 8}) == Order{{0, 1}, {3, 2}});
  // Two vectors onto a matrix from both sides: never their outer product.
  CHECK(best_order({{i}, {j}, {i, j}}, {}, std::vector<double>{100, 100}) == Order{{0, 2}, {3, 1}});
  // An outer product of two short vectors first, then one pass over the large operand.
  CHECK(best_order({{i, j}, {i}, {j}}, {i, j}, std::vector<double>{100, 100}).size() == 2);
}

TEST_CASE("of two ways to scale that cost the same, that of the last operand") {
  const std::vector<AxisSet> scaled{{i, k}, {k}, {k, j}};
  CHECK(best_order(scaled, {i, j}, std::vector<double>{64, 64, 64}) == Order{{1, 2}, {0, 3}});
  CHECK(best_order(scaled, {i, j}, std::vector<double>{8, 64, 64}) ==
        Order{{0, 1}, {3, 2}});  // the smaller one costs less
}

TEST_CASE("a step sums beforehand only what it would otherwise sum again and again") {
  // ij,k->ik: j before, or the sum is repeated for every k.
  const Step before = contract({i, j}, {k}, {i, k});
  CHECK(before.sum_left == AxisSet{j});
  CHECK(before.result == AxisSet{i, k});
  CHECK(before.summed.empty());
  // ij,i->i: j within.
  const Step within = contract({i, j}, {i}, {i});
  CHECK(within.sum_left.empty());
  CHECK(within.summed == AxisSet{j});
  const Step both = contract({i}, {j}, {});
  CHECK(both.sum_left == AxisSet{i});
  CHECK(both.sum_right == AxisSet{j});
}

TEST_CASE("what a step leaves behind has its cost") {
  // (AB)C: 5200 FLOP, of which 100 elements are left; A(BC): 4800 and 120.
  const std::vector<AxisSet> chain{{i, j}, {j, k}, {k, l}};
  const std::vector<double> extents{10, 6, 10, 20};
  const Cost by_elements = [](double flops, double elements) { return flops + 1000 * elements; };
  CHECK(best_order(chain, {i, l}, extents) == Order{{1, 2}, {0, 3}});
  CHECK(best_order(chain, {i, l}, extents, by_elements) == Order{{0, 1}, {3, 2}});
}
