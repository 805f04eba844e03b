// Reductions whose blocks, unrolled iterations and parallel pieces do not divide them.
#include <catch2/catch.hpp>
#include <cmath>

#include "codegen/schedule/check.h"
#include "frontend/tensor/convert.h"
#include "tests/property/codegen/edsl_program.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {

namespace {

/// Two tile levels of m and n around sums in vectors of n; results wait at home between blocks of k.
codegen::NestSchedule blocked(const std::vector<int64_t>& blocks, const std::vector<int>& unroll) {
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 1;
  stage.cpu().lanes = 4;
  stage.cpu().parallel = 1;
  stage.tiles = {{6, 3}, {16, 8}};
  stage.order = {{1, 0}, {0, 1}};
  for (size_t r = 0; r < blocks.size(); ++r) stage.reduction_order.push_back(static_cast<int>(r));
  stage.reduction_block = blocks;
  stage.reduction_unroll = unroll;
  return stage;
}

ir::Program product(const std::string& type, const std::string& op, int64_t k) {
  return test::bound_program(
      "def f(" + type + "(M,K) A, " + type + "(K,N) B) -> (O) { O(m,n) " + op + " A(m,k) * B(k,n) }",
      {{"M", 13}, {"N", 37}, {"K", k}});
}

}  // namespace

TEST_CASE("the last block of a reduction may be shorter", "[property]") {
  const auto [type, op] = GENERATE(table<std::string, std::string>(
      {{"float", "+=!"}, {"float", "max=!"}, {"double", "*=!"}, {"int32", "+=!"}, {"float16", "+=!"}}));
  for (const auto& [k, block, unroll] :
       std::vector<std::tuple<int64_t, int64_t, int>>{{37, 8, 1}, {37, 36, 1}, {45, 18, 9}}) {
    CAPTURE(type, op, k, block, unroll);
    test::KernelCheck check(product(type, op, k), 2);
    codegen::NestSchedule stage = blocked({block}, {unroll});
    check.expect_right({{stage}});
    // Copies of a block's rows and columns, and of all of them.
    for (const int depth : {0, 3}) {
      CAPTURE(depth);
      stage.packings = {{0, depth, {0, 1}}, {1, depth, {1, 0}}};
      check.expect_right({{stage}});
    }
  }
}

TEST_CASE("an unrolled innermost loop may leave some iterations over", "[property]") {
  const auto [type, op] = GENERATE(table<std::string, std::string>(
      {{"float", "+=!"}, {"double", "*=!"}, {"int32", "max=!"}, {"int8", "+=!"}, {"float16", "+=!"}}));
  for (const auto& [k, unroll] : std::vector<std::pair<int64_t, int>>{{37, 2}, {37, 4}, {35, 8}, {5, 3}}) {
    CAPTURE(type, op, k, unroll);
    test::KernelCheck check(product(type, op, k), 2);
    codegen::NestSchedule at_home = blocked({k}, {unroll}), plain = at_home;
    plain.tiles = {{3}, {8}};
    plain.order = {{1, 0}};
    check.expect_right({{at_home}});
    check.expect_right({{plain}});
    plain.packings = {{1, 1, {1, 0}}};
    check.expect_right({{plain}});
  }
}

TEST_CASE("unrolled iterations of a parallel piece may be left over as well", "[property]") {
  // Pieces of 37 and two iterations beside them.
  test::KernelCheck check(product(GENERATE("float", "int32"), "+=!", 113), 2);
  codegen::NestSchedule stage = blocked({37}, {4});
  stage.tiles = {{3}, {8}};
  stage.order = {{1, 0}};
  stage.parallel_reduction = codegen::ParallelReduction{0, 3};
  check.expect_right({{stage}});
}

TEST_CASE("of several reduction loops the innermost alone may leave unrolled iterations over", "[property]") {
  const auto program =
      test::bound_program("def f(float(M,K,L) A, float(L,N,K) B) -> (O) { O(m,n) +=! A(m,k,l) * B(l,n,k) }",
                          {{"M", 13}, {"N", 37}, {"K", 10}, {"L", 19}});
  test::KernelCheck check(program, 2);
  codegen::NestSchedule stage = blocked({10, 19}, {2, 4});
  check.expect_right({{stage}});
  stage.packings = {{1, 1, {1, 0, 2}}};
  check.expect_right({{stage}});
  stage.reduction_block = {4, 19};
  check.expect_right({{stage}});

  const auto refused = [&](codegen::NestSchedule of) {
    const auto checked = codegen::check(program, {{std::move(of)}});
    return !checked && checked.error().message.find("unrolling reduction loop 1 by 4") != std::string::npos;
  };
  stage.reduction_order = {1, 0};
  CHECK(refused(stage));
  stage.reduction_order = {0, 1};
  stage.reduction_block = {10, 18};
  CHECK(refused(stage));
}

TEST_CASE("of several reduction loops each may have a shorter block", "[property]") {
  const auto program =
      test::bound_program("def f(float(M,K,L) A, float(L,N,K) B) -> (O) { O(m,n) +=! A(m,k,l) * B(l,n,k) }",
                          {{"M", 13}, {"N", 37}, {"K", 11}, {"L", 19}});
  test::KernelCheck check(program, 2);
  for (const auto& order : {std::vector<int>{0, 1}, {1, 0}})
    for (const auto& blocks : std::vector<std::vector<int64_t>>{{11, 8}, {4, 8}, {10, 18}}) {
      CAPTURE(order, blocks);
      codegen::NestSchedule stage = blocked(blocks, {1, 1});
      stage.reduction_order = order;
      check.expect_right({{stage}});
      stage.packings = {{1, 3, {1, 0, 2}}};
      check.expect_right({{stage}});
    }
}

TEST_CASE("blocks that are cut at a border leave out what lies beyond it", "[property]") {
  // A window that reaches beyond both ends of its input.
  const auto program = test::bound_program(
      "def f(float(C,H) I, float(F,C,KH) W) -> (O) { "
      "O(f,h) +=! (h + kh >= 3 && h + kh < H + 3 ? I(c,h + kh - 3) : 0) * W(f,c,kh) where h in 0:H }",
      {{"C", 5}, {"H", 29}, {"F", 9}, {"KH", 7}});
  test::KernelCheck check(program, 2);
  codegen::NestSchedule stage = blocked({5, 3}, {1, 1});
  check.expect_right({{stage}});
  stage.reduction_block = {2, 3};
  check.expect_right({{stage}});
  stage.reduction_block = {5, 7};
  stage.reduction_unroll = {1, 4};
  check.expect_right({{stage}});
}

TEST_CASE("what pieces of a reduction leave over is added at the end", "[property]") {
  const auto [type, op] = GENERATE(table<std::string, std::string>(
      {{"float", "+=!"}, {"float", "max=!"}, {"int32", "min=!"}, {"int8", "+=!"}, {"float16", "+=!"}}));
  for (const auto& [k, pieces] : std::vector<std::pair<int64_t, int>>{{37, 2}, {61, 8}, {101, 16}}) {
    CAPTURE(type, op, k, pieces);
    test::KernelCheck check(product(type, op, k), 2);
    const int64_t length = k / pieces;
    codegen::NestSchedule stage = blocked({length}, {1});
    stage.parallel_reduction = codegen::ParallelReduction{0, pieces};
    check.expect_right({{stage}});
    stage.reduction_block = {length - 1};
    stage.packings = {{0, 2, {0, 1}}};
    check.expect_right({{stage}});
  }
}

TEST_CASE("pieces in lanes, and of one of several loops, leave some over as well", "[property]") {
  const std::string op = GENERATE("+=!", "max=!");
  test::KernelCheck one(test::bound_program("def f(float(M,K) A, float(K) B) -> (O) { O(m) " + op + " A(m,k) * B(k) }",
                                            {{"M", 5}, {"K", 211}}),
                        2);
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 1;
  stage.cpu().lanes = 8;
  stage.tiles = {{3}};
  stage.order = {{0}};
  stage.reduction_order = {0};
  stage.reduction_block = {26};
  stage.reduction_unroll = {2};
  stage.parallel_reduction = codegen::ParallelReduction{0, 8};
  one.expect_right({{stage}});
  // Of 13 times 5 terms, and where a condition leaves some of them out.
  test::KernelCheck two(
      test::bound_program("def f(float(M,K,L) A) -> (O) { O(m) " + op +
                              " (k + l >= 2 && k + l < K + 2 ? A(m,k + l - 2,l) : 0) where k in 0:K, l in 0:L }",
                          {{"M", 7}, {"K", 13}, {"L", 5}}),
      2);
  stage.cpu().vector_loop = 0;
  stage.cpu().lanes = 4;
  stage.tiles = {{4}};
  stage.reduction_order = {1, 0};
  // A sum's loops are those of its terms alone, without the condition.
  const int k = op == "+=!" ? 1 : 0;
  stage.reduction_block = {5, 5};
  stage.reduction_block[k] = 6;
  stage.reduction_unroll = {1, 1};
  stage.parallel_reduction = codegen::ParallelReduction{k, 2};
  two.expect_right({{stage}});
  stage.reduction_block[k] = 4;
  stage.parallel_reduction->pieces = 3;
  two.expect_right({{stage}});
}

TEST_CASE("copies of a shorter block stay inside their tensor, whichever way it is walked", "[property]") {
  const auto program =
      test::bound_program("def f(float(M,K) A, float(K,N) B) -> (O) { O(m,n) += A(m,K - 1 - k) * B(K - 1 - k,n) }",
                          {{"M", 13}, {"N", 37}, {"K", 37}});
  test::KernelCheck check(program, 2);
  for (const int64_t block : {36, 8})
    for (const int depth : {2, 4}) {
      CAPTURE(block, depth);
      codegen::NestSchedule stage = blocked({block}, {1});
      stage.packings = {{0, depth, {0, 1}}, {1, depth, {1, 0}}};
      check.expect_right({{stage}});
      stage.packings = {{0, depth, {1, 0}}, {1, depth, {0, 1}}};
      check.expect_right({{stage}});
    }
}

TEST_CASE("constants that are packed beforehand are read by blocks and what pieces leave over", "[property]") {
  auto program = product("float", "+=!", 37);
  program.tensors[1].constant = true;
  test::KernelCheck check(program, 2);
  for (const auto& order : {std::vector<int>{1, 0}, {0, 1}}) {
    CAPTURE(order);
    codegen::NestSchedule stage = blocked({8}, {1});
    stage.packings = {{1, 0, order}};
    check.expect_right({{stage}});
    stage.parallel_reduction = codegen::ParallelReduction{0, 4};
    check.expect_right({{stage}});
  }
}

TEST_CASE("minima and maxima see a NaN in a short block and in what pieces leave over", "[property]") {
  constexpr int64_t kTerms = 37;
  const std::string op = GENERATE("min=!", "max=!");
  const auto program =
      test::bound_program("def f(float(M,K) A) -> (O) { O(m) " + op + " A(m,k) }", {{"M", kTerms + 1}, {"K", kTerms}});
  auto a = tensor::Array::zeros(DType::F32, {kTerms + 1, kTerms});
  for (int64_t m = 0; m < kTerms; ++m) tensor::store_real(DType::F32, a.data.data(), m * kTerms + m, test::kNan);
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 0;
  stage.cpu().lanes = 8;
  stage.tiles = {{16, 8}};
  stage.order = {{0}, {0}};
  stage.reduction_order = {0};
  stage.reduction_block = {10};
  stage.reduction_unroll = {1};
  codegen::NestSchedule pieces = stage;
  pieces.reduction_block = {9};
  pieces.parallel_reduction = codegen::ParallelReduction{0, 4};
  test::KernelCheck check(program, {{0, a}});
  for (const auto& one : {stage, pieces}) {
    const auto got = check.outputs({{one}});
    for (int64_t m = 0; m < kTerms; ++m) CHECK(std::isnan(tensor::load_real(DType::F32, got[0].data(), m)));
    CHECK(tensor::load_real(DType::F32, got[0].data(), kTerms) == 0);
  }
}

TEST_CASE("unrolled minima and maxima, combined in pairs, take each term and see each NaN", "[property]") {
  const auto [type, op] = GENERATE(table<std::string, std::string>(
      {{"float", "min=!"}, {"float", "max=!"}, {"double", "min=!"}, {"float16", "max=!"}}));
  constexpr int64_t kRows = 4, kTerms = 9, kAll = kRows * kTerms, kOutputs = 2 * kAll;
  const auto program = test::bound_program("def f(" + type + "(R,K,M) A) -> (O) { O(m) " + op + " A(r,k,m) }",
                                           {{"R", kRows}, {"K", kTerms}, {"M", kOutputs}});
  const DType dtype = program.tensors[0].type;
  auto a = tensor::Array::zeros(dtype, {kRows, kTerms, kOutputs});
  // Term m of element m is NaN, that of element kAll + m the best.
  const double best = op == "min=!" ? -3 : 3;
  for (int64_t m = 0; m < kAll; ++m) {
    tensor::store_real(dtype, a.data.data(), m * kOutputs + m, test::kNan);
    tensor::store_real(dtype, a.data.data(), m * kOutputs + kAll + m, best);
  }
  test::KernelCheck check(program, {{0, a}});
  const auto expect_right = [&](const codegen::NestSchedule& stage) {
    const auto got = check.outputs({{stage}});
    for (int64_t m = 0; m < kAll; ++m) {
      CHECK(std::isnan(tensor::load_real(dtype, got[0].data(), m)));
      CHECK(tensor::load_real(dtype, got[0].data(), kAll + m) == best);
    }
  };
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 0;
  stage.cpu().lanes = 8;
  stage.tiles = {{16, 8}};
  stage.order = {{0}, {0}};
  // All in one update, of an even and of an odd number of terms; pairs within a row and a term left over; more terms
  // than one update takes; blocks, of which the last is shorter.
  for (const auto& [order, blocks, unroll] :
       std::vector<std::tuple<std::vector<int>, std::vector<int64_t>, std::vector<int>>>{
           {{0, 1}, {4, 9}, {2, 9}},
           {{1, 0}, {4, 9}, {1, 9}},
           {{0, 1}, {4, 9}, {1, 3}},
           {{1, 0}, {4, 9}, {4, 1}},
           {{0, 1}, {4, 9}, {4, 9}},
           {{0, 1}, {3, 9}, {1, 9}},
           {{1, 0}, {3, 6}, {1, 3}}}) {
    CAPTURE(type, op, order, blocks, unroll);
    stage.reduction_order = order;
    stage.reduction_block = blocks;
    stage.reduction_unroll = unroll;
    expect_right(stage);
  }
  // A copy that the terms of an update read; pieces; no vectors.
  stage.packings = {{0, 1, {2, 1, 0}}};
  expect_right(stage);
  stage.packings.clear();
  stage.reduction_block = {4, 3};
  stage.parallel_reduction = codegen::ParallelReduction{1, 3};
  expect_right(stage);
  stage.parallel_reduction.reset();
  stage.reduction_block = {4, 9};
  stage.cpu().vector_loop = -1;
  stage.cpu().lanes = 1;
  expect_right(stage);
}

TEST_CASE("unrolled minima and maxima of windows, and of terms at borders, are right", "[property]") {
  const std::string text = GENERATE("def f(float(M) A) -> (O) { O(m) max=! A(m + k) where k in 0:4 }",
                                    "def f(float(M) A) -> (O) { O(m) min=! (m + k >= 2 && m + k < M + 2 ? A(m + k - 2) "
                                    ": 1) where m in 0:M, k in 0:4 }");
  const auto program = test::bound_program(text, {{"M", 43}});
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 0;
  stage.cpu().lanes = 8;
  stage.tiles = {{16}};
  stage.order = {{0}};
  stage.reduction_order = {0};
  stage.reduction_block = {4};
  stage.reduction_unroll = {4};
  test::KernelCheck check(program, 1);
  check.expect_right({{stage}});
}

TEST_CASE("complex and half sums have short blocks and leave some over", "[property]") {
  const DType type = GENERATE(DType::C64, DType::BF16);
  edsl::TensorIndex i, j, l;
  const auto a = edsl::Placeholder(type, {13, 37}, "a"), b = edsl::Placeholder(type, {37, 37}, "b");
  auto sums = edsl::TensorOutput(13, 37);
  sums(i, j) += a(i, l) * b(l, j);
  test::KernelCheck check(test::program_of({a, b}, sums), 2);
  codegen::NestSchedule stage = blocked({8}, {1});
  check.expect_right({{stage}});
  stage.parallel_reduction = codegen::ParallelReduction{0, 4};
  check.expect_right({{stage}});
}

TEST_CASE("what does not divide is refused where a kernel could not have it") {
  const auto program = product("float", "+=!", 37);
  const auto refused = [&](const codegen::NestSchedule& stage) { return !codegen::check(program, {{stage}}); };
  CHECK_FALSE(refused(blocked({8}, {1})));
  CHECK(refused(blocked({38}, {1})));
  CHECK(refused(blocked({8}, {2})));  // 5 are left
  CHECK(refused(blocked({0}, {1})));
  auto dots = blocked({8}, {1});
  dots.dot_product = true;
  CHECK(refused(dots));
  auto pieces = blocked({2}, {1});
  pieces.parallel_reduction = codegen::ParallelReduction{0, 18};
  CHECK_FALSE(refused(pieces));
  pieces.reduction_block = {1};
  pieces.parallel_reduction->pieces = 20;  // 17 are left
  CHECK(refused(pieces));
}

}  // namespace tile_tune
