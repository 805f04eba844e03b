// Orders of contractions as callers give them, and what slices of a network cost.
#include <catch2/catch.hpp>

#include "engine/handles/scale.h"
#include "engine/handles/slicing.h"
#include "engine/programs/contraction_order.h"
#include "engine/programs/path_argument.h"

using namespace tile_tune;
using namespace tile_tune::engine;

namespace {

/// A chain of matrices: operand n has the axes n and n + 1.
OrderedNetwork chain(std::vector<double> extents, std::vector<std::pair<int, int>> path) {
  OrderedNetwork network;
  const size_t operands = extents.size() - 1;
  for (size_t n = 0; n < operands; ++n) network.operands.push_back({static_cast<int>(n), static_cast<int>(n + 1)});
  network.result = {0, static_cast<int>(operands)};
  network.extents = std::move(extents);
  network.element_bytes = 8;
  network.order = *order_of_path(path, operands);
  return network;
}

}  // namespace

TEST_CASE("Paths name places in what is left, orders numbers") {
  CHECK(*order_of_path({{1, 2}, {0, 1}}, 3) == plan::Order{{1, 2}, {0, 3}});
  CHECK(*order_of_path({{0, 1}, {1, 0}}, 3) == plan::Order{{0, 1}, {3, 2}});
  CHECK(*order_of_path({{3, 0}, {0, 1}, {0, 1}}, 4) == plan::Order{{3, 0}, {1, 2}, {4, 5}});
  CHECK(order_of_path({{0, 2}, {0, 1}}, 3)->size() == 2);
  const auto numbers = [](std::vector<std::pair<int, int>> path, size_t operands) {
    const auto order = order_of_path(path, operands);
    CHECK(order.error().code == "bad-path");
    return order.error().numbers;
  };
  CHECK(numbers({{0, 3}}, 3) == std::vector<int64_t>{0, 0, 3, 3});
  CHECK(numbers({{0, 1}, {1, 1}}, 3) == std::vector<int64_t>{1, 1, 1, 2});
  CHECK(numbers({{-1, 0}}, 3) == std::vector<int64_t>{0, -1, 0, 3});
  CHECK(numbers({{0, 1}}, 3) == std::vector<int64_t>{1, 0, 0, 2});
  CHECK(numbers({{0, 1}, {0, 1}}, 2) == std::vector<int64_t>{1, 0, 1, 1});
  CHECK(order_text({{1, 2}, {0, 3}}) == "1,2;0,3");
}

TEST_CASE("Orders as parentheses are the same orders") {
  const plan::Order order{{1, 2}, {0, 4}, {5, 3}};
  CHECK(order_of(group_of(order, 4), 4) == order);
  CHECK(order_of(plan::Group{2, {}}, 3).empty());
  // Three in one pair of parentheses.
  const plan::Group three{-1, {{0, {}}, {-1, {{1, {}}, {2, {}}, {3, {}}}}}};
  CHECK(order_of(three, 4) == plan::Order{{1, 2}, {4, 3}, {0, 5}});
}

TEST_CASE("What slices cost, of a chain of matrices") {
  // 2 x 30 x 5 x 40 x 3, from the right.
  const auto right = chain({2, 30, 5, 40, 3}, {{2, 3}, {1, 2}, {0, 1}});
  // 5 x 3, and 30 x 3 beside it.
  CHECK(cost_of(right, {}).bytes == 8 * (15 + 90));
  CHECK(cost_of(right, {}).all_bytes == 8 * (15 + 90));
  CHECK(cost_of(right, {}).flops == 5 * 40 * 3 + 30 * 5 * 3 + 2 * 30 * 3);
  CHECK(cost_of(right, {1}).bytes == 8 * (15 + 3));
  // The first product is computed again for each value of the fixed axis.
  CHECK(cost_of(right, {1}).flops == 30 * (5 * 40 * 3 + 5 * 3 + 2 * 3));
  CHECK(cost_of(right, {4}).flops == cost_of(right, {}).flops);
}

TEST_CASE("Axes are fixed until the memory is enough, the cheapest first") {
  const auto network = chain({2, 30, 5, 40, 3}, {{2, 3}, {1, 2}, {0, 1}});
  const plan::AxisSet all{0, 1, 2, 3, 4};
  CHECK(axes_to_fix(network, all, 8 * 105).empty());
  // Columns of the result: nothing is computed twice.
  CHECK(axes_to_fix(network, all, 8 * 104) == plan::AxisSet{4});
  const auto without = axes_to_fix(network, {0, 1, 2, 3}, 8 * 50);
  CHECK(without.contains(1));
  CHECK(cost_of(network, without).bytes <= 8 * 50);
  // Two scalars are always there.
  CHECK(cost_of(network, axes_to_fix(network, all, 8)).bytes == 8 * 2);
  // Two intermediates that are as large: neither axis alone brings the most down.
  OrderedNetwork twins{{{0, 1}, {1}, {2, 3}, {3}}, {}, {9, 2, 9, 2}, 8, {{0, 1}, {2, 3}, {4, 5}}};
  CHECK(cost_of(twins, axes_to_fix(twins, {0, 1, 2, 3}, 16)).bytes <= 16);
}

TEST_CASE("Scaled outputs keep what lies between their elements, and 0 times NaN is 0") {
  std::vector<double> numbers{1, -2, 3, -4, 5, std::numeric_limits<double>::quiet_NaN()};
  scale({numbers.data() + 4, DType::F64, {3}, {-2}}, -0.5);
  CHECK((numbers[0] == -0.5 && numbers[2] == -1.5 && numbers[4] == -2.5 && numbers[1] == -2 && numbers[3] == -4));
  scale({numbers.data() + 5, DType::F64, {1}, {1}}, 0);
  CHECK(numbers[5] == 0);
  std::vector<int8_t> bytes{100, 3, -7, 50, 1, 9};
  scale({bytes.data(), DType::I8, {2, 2}, {1, 3}}, 3);
  CHECK(bytes == std::vector<int8_t>{44, 9, -7, -106, 3, 9});
  std::vector<std::complex<float>> complex{{1, 2}, {3, 4}};
  scale({complex.data(), DType::C32, {2}, {1}}, {0, 1});
  CHECK((complex[0] == std::complex<float>(-2, 1) && complex[1] == std::complex<float>(-4, 3)));
  scale({numbers.data(), DType::F64, {2, 0}, {1, 1}}, 7);
  CHECK(numbers[0] == -0.5);
  scale({numbers.data(), DType::F64, {}, {}}, 2);
  CHECK((numbers[0] == -1 && numbers[1] == -2));
  CHECK(check_scalar({1, 1}, DType::F64).error().code == "lossy-conversion");
  CHECK(check_scalar({1.5, 0}, DType::I32).error().code == "lossy-conversion");
  CHECK(check_scalar({-1, 0}, DType::Bool).error().code == "lossy-conversion");
  CHECK(check_scalar({0x1p60, 0}, DType::I64).error().code == "lossy-conversion");
  CHECK(check_scalar({-3, 0}, DType::U8));
  CHECK(check_scalar({1, 1}, DType::C32));
}

TEST_CASE("Paths as text fix an einsum's order, and what is wrong is placed") {
  const auto network = *einsum::parse("ij,jk,kl,lm->mi");
  const auto program_by = [&](const std::string& path) {
    auto ordered = network;
    ordered.order = *order_by_path(path, network);
    return einsum::make_program(ordered)->program;
  };
  for (const std::string path : {"0,1;0,2;0,1", "2,3;0,2;0,1", "0,3;0,1;0,1"}) CHECK(path_of(program_by(path)) == path);
  CHECK(path_of(program_by("1,0;2,0;1,0")) == "0,1;0,2;0,1");
  // A step that sums beforehand is part of the one that follows.
  auto sums = *einsum::parse("ijx,jk,ky->i");
  sums.order = *order_by_path("1,2;1,0", sums);
  CHECK(path_of(einsum::make_program(sums)->program) == "1,2;0,1");
  CHECK(path_of(einsum::make_program(*einsum::parse("ij,jk->ik"))->program).empty());

  const auto place_of = [&](const std::string& path, const einsum::Einsum& notation) {
    const auto order = order_by_path(path, notation);
    REQUIRE_FALSE(order);
    CHECK(order.error().code == "bad-path");
    CHECK(order.error().place->source_line == path);
    return std::pair(order.error().place->column, order.error().place->length);
  };
  CHECK(place_of("0,1;0,9;0,1", network) == std::pair(5, 3));
  CHECK(place_of("0,1;1,1;0,1", network) == std::pair(5, 3));
  CHECK(place_of("0,1;x;0,1", network) == std::pair(5, 1));
  CHECK(place_of("0,1;", network) == std::pair(5, 1));
  CHECK(place_of("0,1 ;0,1", network) == std::pair(1, 4));
  CHECK(place_of("-1,0", network) == std::pair(1, 4));
  CHECK(place_of("0,1;0,1", network) == std::pair(8, 1));           // two are left
  CHECK(place_of("0,1;0,1;0,1;0,0", network) == std::pair(13, 3));  // one is left
  CHECK(place_of("0,99999999999;0,1;0,1", network) == std::pair(1, 13));
  CHECK(place_of("0,1;0,1;0,1", *einsum::parse("(ij,jk),kl,lm->mi")) == std::pair(1, 11));
}

TEST_CASE("Outputs are multiplied and added to in every type") {
  // 2 x 3 by rows; the term by columns.
  std::vector<int8_t> output{1, -2, 3, 100, -128, 7};
  const std::vector<int8_t> term{10, 40, 20, 50, 30, 60};
  const auto array_of = [](const auto& elements, DType type, std::vector<int64_t> strides) {
    return Array{const_cast<void*>(static_cast<const void*>(elements.data())), type, {2, 3}, std::move(strides)};
  };
  scale_and_add(array_of(output, DType::I8, {3, 1}), -3, array_of(term, DType::I8, {1, 2}));
  CHECK(output == std::vector<int8_t>{7, 26, 21, static_cast<int8_t>(-260), static_cast<int8_t>(434), 39});
  std::vector<std::complex<float>> z{{1, 2}, {0, 0}, {0, -1}, {3, 0}, {0, 0}, {1, 1}};
  scale_and_add(array_of(z, DType::C32, {3, 1}), {0, 1}, array_of(z, DType::C32, {3, 1}));
  CHECK(z[0] == std::complex<float>(-1, 3));
  CHECK(z[2] == std::complex<float>(1, -1));
  std::vector<float> f{1, 2, 3, 4, 5, 6};
  scale_and_add(array_of(f, DType::F32, {3, 1}), 0.5,
                array_of(std::vector<float>{1, 2, 3, 4, 5, 6}, DType::F32, {3, 1}));
  CHECK(f == std::vector<float>{1.5, 3, 4.5, 6, 7.5, 9});
  scale(array_of(f, DType::F32, {1, 2}), 0);
  CHECK(f == std::vector<float>(6, 0));
}
