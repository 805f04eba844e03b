// What is contiguous along another dimension than its source: packed copies, results, permutations, at sizes that no
// block divides.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <optional>

#include "codegen/schedule/loops.h"
#include "search/space/space.h"
#include "tests/property/codegen/edsl_program.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

bool collects(const ir::Program& program, const codegen::Schedule& schedule) {
  const auto& statement = program.statements[0];
  return codegen::has_home(program, statement, codegen::loops_of(program, statement), schedule.stages[0].nest());
}

// Copies of every operand as its tensor lies, and the other way round.
void check_copies_of_all_operands(const ir::Program& program) {
  test::KernelCheck check(program);
  auto schedule = search::Space(program, test::host(2)).default_schedule();
  const auto loops = codegen::loops_of(program, program.statements[0]);
  auto& packings = schedule.stages[0].nest().packings;
  for (const bool reversed : {false, true}) {
    packings.clear();
    for (const auto& operand : loops.operands) {
      codegen::Packing packing{operand.number, 0, std::vector<int>(operand.subscripts.size())};
      std::iota(packing.order.begin(), packing.order.end(), 0);
      if (!reversed) std::reverse(packing.order.begin(), packing.order.end());
      packings.push_back(packing);
    }
    check.expect_right(schedule);
  }
}

}  // namespace

TEST_CASE("results are stored across the vectors that compute them", "[property]") {
  // The target's neighbours run along i, an operand's along j or not at all.
  const std::string sum = "def f(float(I,K,J) A, float(L,K) B) -> (C) { C(l,j,i) +=! A(i,k,j) * B(l,k) }";
  const ir::Sizes odd{{"I", 37}, {"J", 41}, {"K", 13}, {"L", 7}}, even{{"I", 16}, {"J", 32}, {"K", 1}, {"L", 24}},
      small{{"I", 5}, {"J", 19}, {"K", 6}, {"L", 1}};
  // A kernel for vectors of 16 takes eight seconds to compile, one for AVX2 three: others than the first are for AVX2,
  // other sums than the first are tried at one size each, and other schedules of it alone.
  using Case = std::pair<std::string, ir::Sizes>;
  const auto& [text, sizes] = GENERATE_COPY(
      Case{sum, odd}, Case{sum, even}, Case{sum, small},
      Case{"def f(float(I,K,J) A, float(L,K) B) -> (C) { C(l,j,i) += A(i,k,j) * B(l,k) }", odd},
      Case{"def f(float(I,K,J) A, float(L,K) B) -> (C) { C(l,j,i) max=! A(i,k,j) * B(l,k) }", even},
      Case{"def f(double(I,K,J) A, double(L,K) B) -> (C) { C(l,j,i) +=! A(i,k,j) * B(l,k) }", odd},
      Case{"def f(bfloat16(I,K,J) A, bfloat16(L,K) B) -> (C) { C(l,j,i) +=! A(i,k,j) * B(l,k) }", odd},
      Case{"def f(float(I,K,J) A, float(L,K) B, float(L) c) -> (C) { t(l,j,i) +=! A(i,k,j) * B(l,k)  C(l,j,i) = "
           "fmax(t(l,j,i) + c(l), 0) }",
           even});
  CAPTURE(text, sizes);
  const auto program = test::bound_program(text, sizes);
  auto target = test::host(2);
  if (text != sum || sizes != odd) {
    const auto narrower = test::runnable({"x86-64-linux-sse41-avx-f16c-fma-avx2"});
    if (!narrower.empty()) target = narrower.front();
  }
  test::KernelCheck check(program, target);
  const search::Space space(program, target);
  check.expect_right(space.default_schedule());
  if (text != sum) return;
  // Other tiles and vectors.
  search::Rng rng(11);
  std::optional<codegen::Schedule> other;
  for (int i = 0; i < 200 && !other; ++i)
    if (const auto schedule = space.sample(rng).schedule; collects(program, schedule)) other = schedule;
  if (other) check.expect_right(*other);
  CHECK((other || sizes.at("L") == 1));
}

TEST_CASE("operands are packed across their neighbours", "[property]") {
  const std::string text =
      GENERATE("def f(float(M,K) A, float(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
               "def f(double(B,M,K) A, double(B,N,K) D) -> (C) { C(b,m,n) +=! A(b,m,k) * D(b,n,k) }");
  auto sizes = GENERATE(ir::Sizes{{"M", 23}, {"N", 75}, {"K", 29}}, ir::Sizes{{"M", 9}, {"N", 26}, {"K", 72}},
                        ir::Sizes{{"M", 40}, {"N", 18}, {"K", 4}});
  if (text.find("(B,") != std::string::npos) sizes["B"] = 3;
  CAPTURE(text, sizes);
  check_copies_of_all_operands(test::bound_program(text, sizes));
}

TEST_CASE("operands that borders cut short are packed across their neighbours", "[property]") {
  edsl::TensorIndex f, c, x, j;
  const auto I = edsl::Placeholder(DType::F32, {23, 41}, "I"), W = edsl::Placeholder(DType::F32, {19, 23, 3}, "W");
  auto same = edsl::TensorOutput(19, 41), larger = edsl::TensorOutput(19, 90);
  same(f, x) += I(c, x + j - 1) * W(f, c, j);
  larger(f, x) += I(c, x + j - 20) * W(f, c, j);
  check_copies_of_all_operands(test::program_of({I, W}, same));
  check_copies_of_all_operands(test::program_of({I, W}, larger));
}

TEST_CASE("dimensions that a border cuts short are no run of a copy", "[property]") {
  // A tile of x and its padding are as wide as the image, but of the second tile's part the border leaves less.
  edsl::TensorIndex b, y, x, j;
  const auto I = edsl::Placeholder(DType::F32, {5, 7, 8}, "I"), W = edsl::Placeholder(DType::F32, {3}, "W");
  auto O = edsl::TensorOutput(5, 7, 8);
  O(b, y, x) += I(b, y, x + j - 1) * W(j);
  const auto program = test::program_of({I, W}, O);
  codegen::NestSchedule stage;
  stage.tiles = {{1}, {1}, {6}};
  stage.order = {{2, 0, 1}};
  stage.reduction_order = {0};
  stage.reduction_block = {3};
  stage.reduction_unroll = {1};
  stage.packings = {{0, 1, {0, 2, 1}}};
  codegen::Schedule schedule;
  schedule.stages = {stage};
  test::KernelCheck(program).expect_right(schedule);
}

TEST_CASE("a dimension that a border cuts short is not fused with the run inside it", "[property]") {
  edsl::TensorIndex y, x, f, i, j, c;
  const auto I = edsl::Placeholder(DType::F32, {13, 17, 8}, "I"), W = edsl::Placeholder(DType::F32, {3, 3, 8, 16}, "W");
  auto O = edsl::TensorOutput(13, 17, 16);
  O(y, x, f) += I(y + i - 1, x + j - 1, c) * W(i, j, c, f);
  const auto program = test::program_of({I, W}, O);
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 2;
  stage.cpu().lanes = 16;
  stage.order = {{0, 1, 2}};
  stage.tiles = {{7}, {6}, {16}};
  stage.reduction_order = {0, 1, 2};
  stage.reduction_block = {3, 3, 8};
  stage.reduction_unroll = {1, 1, 1};
  stage.packings = {{0, 2, {0, 2, 1}}};
  codegen::Schedule schedule;
  schedule.stages = {stage};
  test::KernelCheck(program).expect_right(schedule);
}

TEST_CASE("a copy for pieces of a sum over a window reads nothing beyond its operand", "[property]") {
  // Dilated: rows of pieces, and rows of results, which one loop runs over.
  const auto program = test::bound_program(
      "def f(float(N,C,X,Y) I, float(F,C,2,2) K) -> (O) { O(n,f,x,y) +=! I(n,c,x + 2*kx,y + 2*ky) * K(f,c,kx,ky) "
      "where x in 0:7, y in 0:3, kx in 0:2, ky in 0:2 }",
      {{"N", 8}, {"C", 5}, {"F", 4}, {"X", 9}, {"Y", 5}});
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 0;
  stage.cpu().lanes = 8;
  stage.cpu().parallel = 1;
  stage.order = {{2, 0, 1, 3}};
  stage.tiles = {{8}, {4}, {1}, {3}};
  stage.reduction_order = {0, 2, 1};
  stage.reduction_block = {5, 1, 2};
  stage.reduction_unroll = {1, 1, 2};
  stage.parallel_reduction = codegen::ParallelReduction{1, 2};
  stage.packings = {{0, 1, {0, 3, 2, 1}}};
  codegen::Schedule schedule;
  schedule.stages = {stage};
  test::KernelCheck(program).expect_right(schedule);
}

TEST_CASE("a copy around all pieces of a sum has what each of them reads", "[property]") {
  // The sum's neighbours lie inside the window's rows, or outside.
  const std::string text = GENERATE(
      "def f(float(N,X,C) I, float(F,C,K) W) -> (O) { O(n,f,x) +=! I(n,x + k,c) * W(f,c,k) where x in 0:7, k in 0:K }",
      "def f(float(N,C,X) I, float(F,C,K) W) -> (O) { O(n,f,x) +=! I(n,c,x + k) * W(f,c,k) where x in 0:7, k in 0:K }");
  const auto program =
      test::bound_program(text, {{"N", 8}, {"X", 9}, {"C", GENERATE(12, 13)}, {"F", 3}, {"K", 3}});  // 13: one is left
  const auto loops = codegen::loops_of(program, program.statements[0]);
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 0;
  stage.cpu().lanes = 8;
  stage.order = {{0, 1, 2}};
  stage.tiles = {{8}, {3}, {1}};
  stage.reduction_order = {0, 1};
  for (const int64_t extent : loops.reduction) {
    stage.reduction_block.push_back(extent >= 12 ? 3 : extent);
    stage.reduction_unroll.push_back(1);
  }
  stage.parallel_reduction = codegen::ParallelReduction{loops.reduction[0] >= 12 ? 0 : 1, 4};
  stage.packings = {{0, 0, {0, 2, 1}}};
  codegen::Schedule schedule;
  schedule.stages = {stage};
  test::KernelCheck(program).expect_right(schedule);
}

TEST_CASE("a copy in vectors of two reads nothing beyond its operand", "[property]") {
  // Five rows in vectors of two were halved to single ones, which Halide let begin beyond the tensor.
  auto program = test::bound_program("def f(double(M,K) A, double(N,K) B) -> (C) { C(m,n) +=! A(m,k) * B(n,k) }",
                                     {{"M", 13}, {"N", 24}, {"K", 17}});
  program.tensors[1].storage = ir::Storage::strided({1, 51});
  program.tensors[2].storage = ir::Storage::strided({1, 17});
  codegen::NestSchedule stage;
  stage.cpu().vector_loop = 0;
  stage.cpu().lanes = 4;
  stage.cpu().parallel = 2;
  stage.order = {{0, 1}, {1, 0}};
  stage.tiles = {{8, 8}, {15, 5}};
  stage.reduction_order = {0};
  stage.reduction_block = {17};
  stage.reduction_unroll = {1};
  stage.packings = {{0, 2, {0, 1}}, {1, 3, {1, 0}}};
  codegen::Schedule schedule;
  schedule.stages = {stage};
  for (const auto& target : test::runnable({"x86-64-linux-sse41", "x86-64-linux-sse41-avx-f16c-fma-avx2"}))
    test::KernelCheck(program, target).expect_right(schedule);
}

TEST_CASE("permutations move blocks", "[property]") {
  const std::string text = GENERATE("def f(float(I,J,K) A) -> (C) { C(k,i,j) = A(i,j,k) }",
                                    "def f(float(I,J,K) A) -> (C) { C(k,j,i) = A(i,j,k) }",
                                    "def f(uint8(I,J,K) A) -> (C) { C(j,k,i) = A(i,j,k) }",
                                    "def f(double(I,J,K) A, double(K) b) -> (C) { C(k,i,j) = A(i,j,k) * b(k) }");
  const auto sizes = GENERATE(ir::Sizes{{"I", 37}, {"J", 19}, {"K", 67}}, ir::Sizes{{"I", 3}, {"J", 64}, {"K", 16}},
                              ir::Sizes{{"I", 1}, {"J", 17}, {"K", 5}});
  CAPTURE(text, sizes);
  const auto program = test::bound_program(text, sizes);
  test::KernelCheck(program).expect_right(search::Space(program, test::host(2)).default_schedule());
}

TEST_CASE("permutations of short runs, small elements and narrow vectors", "[property]") {
  const std::string text = GENERATE(
      "def f(float(I,J,K) A) -> (C) { C(k,j,i) = A(i,j,k) }", "def f(bfloat16(I,J,K) A) -> (C) { C(k,j,i) = A(i,j,k) }",
      "def f(float16(I,J,K) A) -> (C) { C(k,j,i) = A(i,j,k) }", "def f(float(I,J,K) A) -> (C) { C(j,i,k) = A(i,j,k) }");
  const ir::Sizes sizes = text.find("C(j,i,k)") == std::string::npos ? ir::Sizes{{"I", 6}, {"J", 41}, {"K", 21}}
                                                                     : ir::Sizes{{"I", 9}, {"J", 37}, {"K", 3}};
  CAPTURE(text);
  const auto program = test::bound_program(text, sizes);
  for (const auto& target : test::runnable({"x86-64-linux-sse41", "x86-64-linux-sse41-avx-f16c-fma-avx2"}))
    test::KernelCheck(program, target).expect_right(search::Space(program, target).default_schedule());
  test::KernelCheck(program).expect_right(search::Space(program, test::host(2)).default_schedule());
}

}  // namespace tile_tune
