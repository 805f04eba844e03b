// Vectors of partial sums of several elements, folded together: tiles that fill no vector, one, and more than one.
#include <catch2/catch.hpp>
#include <cmath>

#include "codegen/target/host.h"
#include "frontend/tensor/convert.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {

namespace {

/// One nest without packing: the reduction, loop 3, in lanes, and a register tile of rows x columns.
codegen::Schedule in_lanes(int64_t rows, int64_t columns, int lanes, int64_t length, int unroll) {
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 3;
  stage.cpu().lanes = lanes;
  stage.tiles = {{1}, {rows}, {columns}};
  stage.order = {{0, 1, 2}};
  stage.reduction_order = {0};
  stage.reduction_block = {length};
  stage.reduction_unroll = {unroll};
  return {{stage}};
}

ir::Program products(const std::string& type, const std::string& op, const ir::Sizes& sizes) {
  return test::bound_program(
      "def f(" + type + "(B,M,K) A, " + type + "(B,N,K) C) -> (O) { O(b,m,n) " + op + " A(b,m,k) * C(b,n,k) }", sizes);
}

}  // namespace

TEST_CASE("elements of a register tile whose reduction runs in lanes are folded each on its own", "[property]") {
  const std::string type = GENERATE("float", "double", "int32", "float16");
  const std::string op = type == "float" ? GENERATE("+=!", "max=!") : "+=!";
  test::KernelCheck check(products(type, op, {{"B", 2}, {"M", 17}, {"N", 29}, {"K", 37}}), 1);
  for (const auto& [rows, columns, lanes, unroll] : std::vector<std::tuple<int64_t, int64_t, int, int>>{
           {3, 1, 8, 1}, {1, 8, 4, 3}, {2, 13, 8, 1}, {13, 2, 16, 2}, {5, 5, 2, 1}}) {
    CAPTURE(type, op, rows, columns, lanes, unroll);
    check.expect_right(in_lanes(rows, columns, lanes, 37, unroll));
  }
}

TEST_CASE("minima and maxima of two vectors at a time see a NaN wherever it is", "[property]") {
  const std::string type = GENERATE("float", "double", "float16");
  const std::string op = GENERATE("min=!", "max=!");
  // Whole pairs of vectors; some left over, in vectors and one by one.
  const int64_t length = GENERATE(64, 61, 33);
  const auto program = test::bound_program("def f(" + type + "(M,K) A) -> (O) { O(m) " + op + " A(m,k) }",
                                           {{"M", length + 1}, {"K", length}});
  const DType dtype = program.tensors[0].type;
  auto a = tensor::Array::zeros(dtype, {length + 1, length});
  for (int64_t i = 0; i < (length + 1) * length; ++i)
    tensor::store_real(dtype, a.data.data(), i, static_cast<double>(i * 37 % 101) - 50);
  for (int64_t m = 0; m < length; ++m) tensor::store_real(dtype, a.data.data(), m * length + m, test::kNan);
  for (const int unroll : {2, 4}) {
    CAPTURE(type, op, length, unroll);
    codegen::NestSchedule stage;
    stage.cpu().vector_loop = 1;
    stage.cpu().lanes = 8;
    stage.tiles = {{1}};
    stage.order = {{0}};
    stage.reduction_order = {0};
    stage.reduction_block = {length};
    stage.reduction_unroll = {unroll};
    test::KernelCheck check(program, {{0, a}});
    const auto got = check.outputs({{stage}});
    for (int64_t m = 0; m < length; ++m) CHECK(std::isnan(tensor::load_real(dtype, got[0].data(), m)));
    CHECK_FALSE(std::isnan(tensor::load_real(dtype, got[0].data(), length)));
  }
}

TEST_CASE("folds of several elements are made together") {
  const auto program = products("float", "+=!", {{"B", 5}, {"M", 26}, {"N", 26}, {"K", 72}});
  const auto target = codegen::describe_target("x86-64-linux-avx-avx2-fma-f16c-sse41", 1);
  REQUIRE(target);
  const auto listing = test::disassembly(program, in_lanes(2, 13, 8, 72, 1), *target);
  int sums = 0;
  for (size_t at = 0; (at = listing.find("\tvadd", at)) != std::string::npos; ++at) ++sums;
  // 26 vectors of 8 lanes: 13 + 7 + 4 sums of whole vectors, less those that LLVM finds horizontal sums for; one by one
  // they are 26 * 3.
  CHECK(sums >= 13);
  CHECK(sums <= 24);
}

// LLVM 21 takes such a sum of one vector, folded by halves, for a dot product of which it adds too few lanes.
TEST_CASE("sums of unsigned by signed bytes that fill one vector are whole", "[property]") {
  const int lanes = GENERATE(4, 8, 16, 32);
  const int vectors = GENERATE(1, 2);
  const bool row_is_signed = GENERATE(false, true);
  const std::string row = row_is_signed ? "int8" : "uint8", column = row_is_signed ? "uint8" : "int8";
  const int64_t length = int64_t{lanes} * vectors;
  const int64_t rows = GENERATE(1, 3, 8, 9);
  const auto program =
      test::bound_program("def f(" + row + "(M,K) A, " + column + "(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                          {{"M", rows}, {"N", 5}, {"K", length}});
  CAPTURE(lanes, vectors, row_is_signed, rows);
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 2;
  stage.cpu().lanes = lanes;
  stage.tiles = {{rows}, {1}};
  stage.order = {{1, 0}};
  stage.cpu().parallel = 1;  // a function of its own, in which nothing is taken out of a loop
  stage.reduction_order = {0};
  stage.reduction_block = {length};
  stage.reduction_unroll = {GENERATE(1, 2)};
  if (stage.reduction_unroll[0] > vectors) return;
  test::KernelCheck(program, 1).expect_right({{stage}});
}

}  // namespace tile_tune
