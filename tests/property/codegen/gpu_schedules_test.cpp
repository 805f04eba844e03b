// GPU schedules compute what the reference does: on OpenCL, whose device may be this machine's CPU (PoCL).
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/lower/compile.h"
#include "codegen/schedule/check.h"
#include "frontend/einsum/einsum.h"
#include "frontend/ir/canonical.h"
#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_run.h"
#include "tests/property/codegen/gpu_schedules.h"

namespace tile_tune {
namespace {

const std::string kMatmul = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

}  // namespace

TEST_CASE("plain nests of programs") {
  using test::GpuCase;
  const auto one = GENERATE(
      GpuCase{kMatmul, {{"M", 61}, {"N", 67}, {"K", 71}}}, GpuCase{kMatmul, {{"M", 1}, {"N", 1}, {"K", 1}}},
      GpuCase{kMatmul, {{"M", 5}, {"N", 7}, {"K", 0}}},
      GpuCase{"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }",
              {{"M", 19}, {"N", 35}, {"K", 23}}},
      GpuCase{"def f(double(N) A) -> (o) { o *=! A(i) }", {{"N", 29}}},
      GpuCase{"def f(float(B,C,H,W) input) -> (output) { output(b,c,i,j) max=! input(b,c,2*i + kw, 2*j + kh) "
              "where kw = [0, 2[, kh = [0, 2[ }",
              {{"B", 2}, {"C", 3}, {"H", 37}, {"W", 43}}},
      GpuCase{"def f(float(N,M) X) -> (O) { m(n) max=! X(n,k)  e(n,k) = exp(X(n,k) - m(n))  s(n) +=! e(n,k)  O(n,k) = "
              "e(n,k) / s(n) }",
              {{"N", 13}, {"M", 37}}});
  const auto program = test::gpu_program(one.text, one.sizes);
  test::expect_right(program, test::plain_gpu_schedule(program));
}

// Their words were compared as integers.
TEST_CASE("the largest and the smallest bfloat16 among negative and positive ones") {
  const auto program = test::gpu_program(GENERATE("def f(bfloat16(M,N) A) -> (o) { o min=! A(m,n) }",
                                                  "def f(bfloat16(M,N) A) -> (o) { o(m) max=! A(m,n) }"),
                                         {{"M", 3}, {"N", 67}});
  test::expect_right(program, test::plain_gpu_schedule(program));
}

TEST_CASE("functions of a GPU, several elements a thread") {
  const auto program = test::gpu_program(
      "def f(float(N) X, double(N) Y) -> (O, P) { O(i) = exp(X(i)) + tanh(X(i))  P(i) = log(Y(i)) * cbrt(Y(i)) }",
      {{"N", 500}});
  auto schedule = test::plain_gpu_schedule(program);
  for (auto& stage : schedule.stages) {
    stage.nest().tiles = {{128, 4}};
    stage.nest().gpu().vector_loop = 0;
    stage.nest().gpu().lanes = 4;
  }
  test::expect_right(program, schedule);
}

TEST_CASE("copies of odd sizes side by side in shared memory") {
  const auto program =
      test::gpu_program("def f(float(N) t, float(K) V) -> (u) { u(i) +=! t(2*i+k) * V(k) }", {{"N", 64}, {"K", 4}});
  test::expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [](codegen::NestSchedule& nest) {
                       nest.tiles = {{15, 5}};
                       nest.packings = {{0, 1, {0}}, {1, 1, {0}}};
                       nest.gpu().padding = 1;
                       nest.reduction_unroll = {4};
                     }));
}

// At a border Halide asked for less than a block's copy has, and took for granted that no block lies there.
TEST_CASE("copies for blocks at borders that leave terms out, or give them other values") {
  const auto program = test::gpu_program(
      GENERATE("def f(float(N) I, float(K) V) -> (O) { O(i) +=! (i + k >= 1 && i + k <= N ? I(i + k - 1) : 0) * V(k) "
               "where i in 0:N }",
               "def f(float(N) I, float(K) V) -> (O) { O(i) max=! (i + k >= 1 && i + k <= N ? I(i + k - 1) : 0) * V(k) "
               "where i in 0:N }",
               "def f(float(N) I, float(K) V) -> (O) { O(i) +=! (i + k >= 3 ? I(min(i + k, N - 1)) : 1) * V(k) "
               "where i in 0:N }"),
      {{"N", 5}, {"K", 4}});
  const bool pipelined = GENERATE(false, true);
  test::expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [&](codegen::NestSchedule& nest) {
                       nest.tiles = {{2, 1}};
                       nest.packings = {{0, 1, {0}}};
                       nest.gpu().pipelined = pipelined;
                       nest.reduction_block = {pipelined ? 2 : 4};
                     }));
}

// Halide loads six neighbours for four elements of every second one, which OpenCL has no vectors for.
TEST_CASE("vectors with gaps at a border") {
  const auto program = test::gpu_program(
      "def f(float(N) I) -> (O) { O(i) +=! (2*i + k < N ? I(2*i + k) : 0) where i in 0:4, k in 0:2 }", {{"N", 7}});
  test::expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [](codegen::NestSchedule& nest) {
                       nest.tiles = {{4, 4}};
                       nest.gpu().vector_loop = 0;
                       nest.gpu().lanes = 4;
                       nest.reduction_unroll = {2};
                     }));
}

// Names that Halide makes up for what lies in such a tile were taken.
TEST_CASE("a loop whose last tile is there in part shares a dimension of the block") {
  const auto program = test::gpu_program(
      "def f(float(N,G,C,H,W) I, float(G,F,C,KH,KW) V, float(G,F) B) -> (O) { O(n,g,f,h,w) +=! I(n,g,c,h+kh,w+kw) * "
      "V(g,f,c,kh,kw)  O(n,g,f,h,w) = O(n,g,f,h,w) + B(g,f) }",
      {{"N", 2}, {"G", 2}, {"F", 2}, {"C", 2}, {"H", 5}, {"W", 5}, {"KH", 1}, {"KW", 1}});
  auto schedule = test::plain_gpu_schedule(program);
  for (auto& stage : schedule.stages) {
    stage.nest().tiles = {{2, 1}, {2, 1}, {2, 1}, {4, 4}, {4, 1}};
    stage.nest().order = {{1, 0, 3, 2, 4}, {3, 4, 1, 2, 0}};
  }
  test::expect_right(program, schedule);
}

// Of a thread's stores of columns Halide makes one of all its rows, longer than OpenCL's vectors, or of six elements.
TEST_CASE("vectors of columns of narrow rows") {
  const int columns = GENERATE(3, 16);
  const auto program = test::gpu_program(kMatmul, {{"M", 8}, {"N", columns}, {"K", 5}});
  test::expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [&](codegen::NestSchedule& nest) {
                       nest.tiles = {{4, 2}, {columns, columns}};
                       nest.gpu().vector_loop = 0;
                       nest.gpu().lanes = 2;
                     }));
}

// A number that an index shares with the rest of the value was named anew, but not in the index.
TEST_CASE("vectors whose place and value have a number in common") {
  const auto program = test::gpu_program("def f(float(N,D) X, float(N) M) -> (E) { E(n,d) = exp(X(n,d) - M(n)) }",
                                         {{"N", 32}, {"D", 32}});
  test::expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [](codegen::NestSchedule& nest) {
                       nest.tiles = {{4, 2}, {32, 8}};
                       nest.order = {{1, 0}, {0, 1}};
                       nest.gpu().interleaved = true;
                       nest.gpu().vector_loop = 1;
                       nest.gpu().lanes = 2;
                     }));
}

// x % 64 % 8 % 4 and x % 8 % 4 did not cancel.
TEST_CASE("many loops of blocks share a dimension, and sums are a block's") {
  const auto program = test::gpu_program(
      "def f(float(D,E,G,A) X, float(G,F,B,C) Y) -> (O) { O(a,b,c,d,e,f) +=! X(d,e,g,a) * Y(g,f,b,c) }",
      {{"A", 16}, {"B", 4}, {"C", 6}, {"D", 16}, {"E", 4}, {"F", 6}, {"G", 3}});
  test::expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [](codegen::NestSchedule& nest) {
                       nest.tiles = {{2, 1}, {2, 1}, {4, 4}, {4, 1}, {2, 1}, {4, 4}};
                       nest.order = {{5, 0, 2, 3, 4, 1}, {2, 5, 1, 3, 0, 4}};
                       nest.gpu().vector_loop = 5;
                       nest.gpu().lanes = 4;
                       nest.packings = {{0, 6, {3, 2, 1, 0}}, {1, 6, {3, 2, 0, 1}}};
                     }));
}

// Where the parts of complex elements lie was computed by lanes, and loaded from as a vector.
TEST_CASE("vectors of complex elements") {
  einsum::Known known;
  for (const auto& shape : {std::vector<int64_t>{13, 21}, {21, 19}}) known.operands.push_back({DType::C64, shape});
  const auto made = einsum::make_program(einsum::parse("ik,kj->ij").value(), known).value();
  const auto program = ir::canonicalize(ir::bind(made.program, made.sizes).value());
  test::expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [](codegen::NestSchedule& nest) {
                       nest.tiles = {{2, 2}, {4, 2}};
                       nest.gpu().vector_loop = 1;
                       nest.gpu().lanes = 2;
                     }));
}

TEST_CASE("an epilogue and pieces of a reduction on a staged nest") {
  const auto program = test::gpu_program(
      "def f(float(M,K) A, float(K,N) B, float(N) c) -> (C) { t(m,n) +=! A(m,k) * B(k,n)  C(m,n) = fmax(t(m,n) + c(n), "
      "0) }",
      {{"M", 30}, {"N", 44}, {"K", 24}});
  auto schedule = test::changed(test::plain_gpu_schedule(program), 0, [](codegen::NestSchedule& nest) {
    nest.tiles = {{16, 2}, {16, 4}};
    nest.packings = {{0, 2, {0, 1}}, {1, 2, {1, 0}}};
    nest.reduction_block = {8};
    nest.reduction_unroll = {8};
    nest.parallel_reduction = codegen::ParallelReduction{0, 3};
  });
  schedule.stages[1] = codegen::Epilogue{0};
  test::expect_right(program, schedule);
}

// The first thread's part of an index and that of a block did not cancel where they stand in two places of it.
TEST_CASE("loops of blocks share a dimension, and so do loops of threads") {
  const auto program = test::gpu_program(
      "def f(float(B,IP,H,W) I, float(OP,IP,KH,KW) V) -> (O) { O(b,op,h,w) +=! I(b,ip,h+kh,w+kw) * V(op,ip,kh,kw) }",
      {{"B", 8}, {"IP", 2}, {"OP", 8}, {"H", 8}, {"W", 18}, {"KH", 3}, {"KW", 3}});
  test::expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [](codegen::NestSchedule& nest) {
                       nest.tiles = {{4, 1}, {4, 2}, {2, 1}, {8, 4}};
                       nest.order = {{1, 2, 0, 3}, {0, 1, 2, 3}};
                       nest.gpu().vector_loop = 3;
                       nest.gpu().lanes = 4;
                       nest.gpu().interleaved = true;
                       nest.reduction_unroll = {2, 1, 1};
                     }));
}

TEST_CASE("random nests of a product") {
  test::check_random(GENERATE(range(0U, 3U)), {kMatmul, {{"M", 30}, {"N", 44}, {"K", 24}}});
}

TEST_CASE("random nests of all kinds of programs") { test::check_random(1, GENERATE(from_range(test::gpu_cases()))); }

TEST_CASE("halves that a device does not have are refused with the reason") {
  const auto program = test::gpu_program("def f(half(N) X) -> (O) { O(i) = X(i) }", {{"N", 8}});
  const auto code = codegen::device_code(program, test::plain_gpu_schedule(program),
                                         codegen::parse_target("x86-64-linux-opencl").value());
  REQUIRE(!code);
  CHECK(code.error().message == "X is of halves, which an OpenCL device has with cl_half alone");
}

}  // namespace tile_tune
