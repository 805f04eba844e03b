#include <catch2/catch.hpp>
#include <cstdint>

#include "programs.h"

using namespace tile_tune;
using namespace tile_tune::ir;
using namespace tile_tune::ir::test;

namespace {

Diagnostic error_of(const Program& program, const Sizes& sizes) {
  const auto bound = ir::bind(program, sizes);
  REQUIRE_FALSE(bound);
  CHECK(bound.error().error_class == ErrorClass::Mismatch);
  return bound.error();
}

}  // namespace

TEST_CASE("binding makes every extent and range a number") {
  const auto program = ir::bind(strided_convolution(), {{"N", 12}, {"K", 5}}).value();
  CHECK(program.is_bound());
  CHECK(shape(program.tensors[2]) == std::vector<int64_t>{4});
  CHECK(range(program.statements[0].indices[0]).hi == 4);
  CHECK(range(program.statements[0].indices[1]).hi == 5);
  CHECK_FALSE(strided_convolution().is_bound());
}

TEST_CASE("a bound program binds again without sizes") {
  const auto once = ir::bind(matmul(), {{"M", 2}, {"K", 3}, {"N", 5}}).value();
  CHECK(ir::bind(once, {}).has_value());
}

TEST_CASE("sizes that do not fit are named") {
  auto error = error_of(matmul(), {{"M", 2}});
  CHECK(error.code == "missing-size");
  CHECK(error.message == "no value for sizes K, N of 'mm'");

  error = error_of(matmul(), {{"M", 2}, {"K", -1}, {"N", 2}});
  CHECK(error.code == "negative-size");
  CHECK(error.message.find("K = -1") != std::string::npos);

  error = error_of(matmul(), {{"M", 2}, {"K", 1}, {"N", 2}, {"Q", 1}});
  CHECK(error.code == "unknown-size");
  CHECK(error.note == "its sizes are M, K, N");

  CHECK(error_of(matmul(), {{"M", INT64_MAX}, {"K", 2}, {"N", 1}}).code == "tensor-too-large");
}

TEST_CASE("a range that is empty though no size is 0 is an error") {
  const auto error = error_of(strided_convolution(), {{"N", 3}, {"K", 5}});
  CHECK(error.code == "empty-range");
  CHECK(error.message == "the range [0, 0) of x is empty for these sizes");
  CHECK(error.note == "it is bounded by I(2*x + k), dimension 0");
  // An extent below 0 is told as the empty range that explains it.
  CHECK(error_of(strided_convolution(), {{"N", 3}, {"K", 9}}).code == "empty-range");
}

TEST_CASE("a size of 0 is legal") {
  const auto product = ir::bind(matmul(), {{"M", 2}, {"K", 0}, {"N", 5}}).value();
  CHECK(flops(product) == 0);
  // A window of 3 over nothing gives nothing, not -1 elements.
  const auto window = ir::bind(strided_convolution(), {{"N", 0}, {"K", 3}}).value();
  CHECK(shape(window.tensors[3]) == std::vector<int64_t>{0});
  CHECK(ir::bind(strided_convolution(), {{"N", 4}, {"K", 0}}).has_value());
}

TEST_CASE("a size of 0 that no input shows is legal, too") {
  Program program = matmul();
  program.sizes.push_back("L");
  program.statements[0].indices.push_back({"l", 0, size("L"), "where clause"});
  CHECK(ir::bind(program, {{"M", 2}, {"K", 3}, {"N", 5}, {"L", 0}}).has_value());
  program.statements[0].indices.back().hi = size("L") - 1;
  CHECK(error_of(program, {{"M", 2}, {"K", 3}, {"N", 5}, {"L", 1}}).code == "empty-range");
}

TEST_CASE("an extent of 0 written as a number is legal, too") {
  Program program = strided_convolution();
  program.sizes = {"K"};
  const Sizes none{{"N", 0}};
  for (auto& tensor : program.tensors)
    for (auto& extent : tensor.extents) extent = extent.bind(none).value();
  for (auto& statement : program.statements)
    for (auto& index : statement.indices) index.hi = index.hi.bind(none).value();
  CHECK(shape(ir::bind(program, {{"K", 5}}).value().tensors[3]) == std::vector<int64_t>{0});
}

TEST_CASE("extents that a program makes negative are an error") {
  Program program = matmul();
  program.tensors[0].extents[1] = size("K") - 4;
  program.statements[0].indices[2].hi = 0;
  program.statements[0].indices.pop_back();
  program.statements[0].value = number(1);
  const auto error = error_of(program, {{"M", 2}, {"K", 3}, {"N", 5}});
  CHECK(error.code == "negative-extent");
  CHECK(error.message == "a dimension of A, K - 4, would be -1 for these sizes");
}

TEST_CASE("work and traffic of a bound program") {
  const Sizes sizes{{"M", 3}, {"K", 5}, {"N", 7}};
  const auto product = ir::bind(matmul(), sizes).value();
  CHECK(flops(product) == 2 * 3 * 5 * 7);
  CHECK(traffic(product).read == 4 * (3 * 5 + 5 * 7));
  CHECK(traffic(product).written == 4 * 3 * 7);
  CHECK(traffic(ir::bind(matmul(true), sizes).value()).read == 4 * (3 * 5 + 5 * 7 + 3 * 7));
  // A triangle's half, and a multiplication, an addition and a maximum.
  CHECK(flops(running_sum(10)) == 55);
  CHECK(flops(ir::bind(strided_convolution(), {{"N", 12}, {"K", 5}}).value()) == 2 * 4 * 5 + 4);
}

TEST_CASE("reductions, roles and reads") {
  const Program program = matmul(true);
  CHECK(program.statements[0].reduction_indices() == std::vector<int>{2});
  CHECK(program.initial_value_of(3) == 2);
  CHECK(matmul().initial_value_of(2) == std::nullopt);
  std::vector<int> reads;
  const auto gather = read(1, {read(0, {at(0)}, DType::I32)});
  for_each_read(*call(Op::Add, {gather, make_expr(DType::F32, Cast{read(2, {})})}),
                [&](const Read& found) { reads.push_back(found.tensor); });
  CHECK(reads == std::vector<int>{1, 0, 2});
}
