// The order of contractions and the types they meet in.
#include <catch2/catch.hpp>

#include "frontend/einsum/plan.h"
#include "frontend/einsum/promote.h"

using namespace tile_tune;
using namespace tile_tune::einsum;

namespace {
constexpr int i = 0, j = 1, k = 2, l = 3;
}

TEST_CASE("without sizes, or with many operands, left to right") {
  const std::vector<AxisSet> chain{{i, j}, {j, k}, {k, l}};
  CHECK(plan(chain, {i, l}, std::nullopt) == Order{{0, 1}, {3, 2}});
  CHECK(plan({{i}}, {i}, std::nullopt).empty());
  const std::vector<AxisSet> seven(7, {i});
  CHECK(plan(seven, {i}, std::vector<double>{5}) == Order{{0, 1}, {7, 2}, {8, 3}, {9, 4}, {10, 5}, {11, 6}});
}

TEST_CASE("the cheapest order, and the leftmost of equals") {
  const std::vector<AxisSet> chain{{i, j}, {j, k}, {k, l}};
  // (AB)C: 2*(10*100*5 + 10*5*50) = 15000 FLOP; A(BC): 2*(100*5*50 + 10*100*50) = 150000.
  CHECK(plan(chain, {i, l}, std::vector<double>{10, 100, 5, 50}) == Order{{0, 1}, {3, 2}});
  // The chain of the suite whose order from the left costs 32 times as much.
  CHECK(plan(chain, {i, l}, std::vector<double>{1024, 1024, 1024, 16}) == Order{{1, 2}, {0, 3}});
  CHECK(plan(chain, {i, l}, std::vector<double>{8, 8, 8, 8}) == Order{{0, 1}, {3, 2}});
  // Two vectors onto a matrix from both sides: never their outer product.
  CHECK(plan({{i}, {j}, {i, j}}, {}, std::vector<double>{100, 100}) == Order{{0, 2}, {3, 1}});
  // An outer product of two short vectors first, then one pass over the large operand.
  CHECK(plan({{i, j}, {i}, {j}}, {i, j}, std::vector<double>{100, 100}).size() == 2);
}

TEST_CASE("of two ways to scale that cost the same, that of the last operand") {
  const std::vector<AxisSet> scaled{{i, k}, {k}, {k, j}};
  CHECK(plan(scaled, {i, j}, std::vector<double>{64, 64, 64}) == Order{{1, 2}, {0, 3}});
  CHECK(plan(scaled, {i, j}, std::vector<double>{8, 64, 64}) == Order{{0, 1}, {3, 2}});  // the smaller one costs less
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

TEST_CASE("types meet as in the lattice of tensors") {
  using enum DType;
  const std::vector<DType> order{Bool, I32, I64, F32, F64, C32, C64};
  const std::vector<std::vector<DType>> table{{Bool, I32, I64, F32, F64, C32, C64}, {I32, I32, I64, F64, F64, C64, C64},
                                              {I64, I64, I64, F64, F64, C64, C64},  {F32, F64, F64, F32, F64, C32, C64},
                                              {F64, F64, F64, F64, F64, C64, C64},  {C32, C64, C64, C32, C64, C32, C64},
                                              {C64, C64, C64, C64, C64, C64, C64}};
  for (size_t a = 0; a < order.size(); ++a)
    for (size_t b = 0; b < order.size(); ++b) {
      INFO(dtype_name(order[a]) << " with " << dtype_name(order[b]));
      CHECK(common_type(order[a], order[b]) == table[a][b]);
    }
  CHECK(common_type(I8, F16) == F16);
  CHECK(common_type(I16, F16) == F32);
  CHECK(common_type(I8, BF16) == BF16);
  CHECK(common_type(U16, F32) == F32);
  CHECK(common_type(U32, F32) == F64);
  CHECK(common_type(F16, BF16) == F32);
  CHECK(common_type(U8, I8) == I8);
  CHECK(common_type(I16, C32) == C32);
}
