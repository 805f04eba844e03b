// Reductions that several threads of a GPU share: right on OpenCL whatever is odd about them, in registers for
// NVIDIA's.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/lower/compile.h"
#include "codegen/schedule/check.h"
#include "tests/property/codegen/gpu_assembly.h"
#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_run.h"
#include "tests/property/codegen/gpu_schedules.h"

namespace tile_tune {
namespace {

struct SharedCase {
  std::string program;
  ir::Sizes sizes;
  std::string nest;  // what of the plain nest of the first statement is different, as JSON
};

codegen::Schedule shared_schedule(const ir::Program& program, const std::string& nest) {
  auto json = codegen::to_json(test::plain_gpu_schedule(program));
  const auto changes = nlohmann::json::parse(nest);
  for (const auto& [field, value] : changes.items()) json["stages"][0][field] = value;
  auto schedule = codegen::schedule_from_json(json);
  REQUIRE(schedule);
  return *schedule;
}

const std::string kRows = "def f(float(M,N) A) -> (o) { o(m) +=! A(m,n) }";
const std::string kColumns = "def f(float(M,N) A) -> (o) { o(n) +=! A(m,n) }";
const std::string kAll = "def f(float(M,N) A) -> (o) { o +=! A(m,n) }";

}  // namespace

TEST_CASE("threads share reductions of all lengths") {
  const auto one = GENERATE(
      SharedCase{kRows, {{"M", 7}, {"N", 1009}}, R"({"tiles":[[1,1]],"reduction_threads":64,"reduction_unroll":[4]})"},
      SharedCase{kRows, {{"M", 7}, {"N", 5}}, R"({"tiles":[[6,2]],"reduction_threads":8})"},
      SharedCase{kRows, {{"M", 0}, {"N", 5}}, R"({"tiles":[[1,1]],"reduction_threads":4})"},
      SharedCase{kRows, {{"M", 1}, {"N", 1025}}, R"({"tiles":[[1,1]],"reduction_threads":256})"},
      SharedCase{kRows, {{"M", 3}, {"N", 2}}, R"({"tiles":[[3,1]],"reduction_threads":2})"},
      SharedCase{
          kColumns,
          {{"M", 301}, {"N", 37}},
          R"({"tiles":[[32,4]],"gpu_vector_loop":0,"gpu_lanes":4,"reduction_threads":8,"reduction_unroll":[2]})"},
      SharedCase{kAll, {{"M", 31}, {"N", 13}}, R"({"reduction_threads":128})"},
      SharedCase{kAll, {{"M", 131}, {"N", 3}}, R"({"reduction_threads":32,"reduction_unroll":[8,1]})"},
      SharedCase{kAll,
                 {{"M", 60}, {"N", 13}},
                 R"({"reduction_threads":256,"reduction_block":[20,13],"reduction_unroll":[1,1],
                     "parallel_reduction":{"loop":0,"pieces":3}})"},
      SharedCase{kAll,
                 {{"M", 254}, {"N", 5}},
                 R"({"reduction_threads":4,"reduction_block":[2,5],"reduction_unroll":[1,1],
                     "parallel_reduction":{"loop":0,"pieces":127}})"},
      // Names that Halide makes up were taken.
      SharedCase{"def f(float(A,B,H,W) X) -> (o) { o(a,b,i,j) max= X(a,b,2*i+k,2*j+l) where k in 0:2, l in 0:2 }",
                 {{"A", 1}, {"B", 3}, {"H", 7}, {"W", 8}},
                 R"({"tiles":[[1,1],[2,1],[2,1],[4,2]],"order":[[0,3,1,2],[0,1,2,3]],"reduction_threads":2})"},
      // The place of a sum had a name inside that stood in the way of comparing it.
      SharedCase{"def f(float(A,B,H,W,R) X) -> (o) { o(a,b,i,j) += X(a,b,i,j,r) }",
                 {{"A", 2}, {"B", 4}, {"H", 5}, {"W", 8}, {"R", 6}},
                 R"({"tiles":[[2,1],[4,2],[4,2],[8,2]],"order":[[0,1,3,2],[2,1,0,3]],"gpu_lanes":2,"gpu_vector_loop":3,
                     "reduction_threads":2})"},
      SharedCase{kRows,
                 {{"M", 5}, {"N", 68}},
                 R"({"tiles":[[2,1]],"reduction_block":[4],"parallel_reduction":{"loop":0,"pieces":17}})"},
      SharedCase{"def f(float(N,C,H,W) X) -> (o) { o(c) +=! X(n,c,h,w) }",
                 {{"N", 5}, {"C", 6}, {"H", 7}, {"W", 7}},
                 R"({"tiles":[[4,1]],"reduction_threads":64,"reduction_order":[0,1,2]})"},
      SharedCase{"def f(float(M,N) A, float(N) v) -> (o) { o(m) +=! A(m,n) * v(n) }",
                 {{"M", 19}, {"N", 77}},
                 R"({"tiles":[[8,4]],"reduction_threads":16,"reduction_unroll":[2]})"});
  CAPTURE(one.program, one.nest);
  const auto program = test::gpu_program(one.program, one.sizes);
  test::expect_right(program, shared_schedule(program, one.nest));
}

TEST_CASE("threads share reductions of every kind") {
  const std::string nest = R"({"reduction_threads":32,"reduction_unroll":[2]})";
  const std::string text =
      GENERATE("def f(double(N) A) -> (o) { o *=! A(i) }", "def f(float(N) A) -> (o) { o max=! A(i) }",
               "def f(double(N) A) -> (o) { o min=! A(i) }", "def f(int8(N) A) -> (o) { o max=! A(i) }",
               "def f(int32(N) A) -> (o) { o +=! A(i) * 1000003 }", "def f(int64(N) A) -> (o) { o *=! A(i) }",
               "def f(uint8(N) A) -> (o) { o +=! A(i) }", "def f(bfloat16(N) A) -> (o) { o +=! A(i) }",
               "def f(bfloat16(N) A) -> (o) { o min=! A(i) }", "def f(float(N) A) -> (o) { o += A(i) }",
               "def f(float(N) A) -> (o) { o +=! A(i) > 0 ? A(i) : 0 }",
               "def f(float(N) A) -> (o) { o +=! i > 2 ? A(i-3) : 0.0 where i in 0:N }");
  CAPTURE(text);
  const auto program = test::gpu_program(text, {{"N", 167}});
  test::expect_right(program, shared_schedule(program, nest));
}

TEST_CASE("what follows a shared reduction is computed by the first of its threads") {
  const auto program =
      test::gpu_program("def f(float(M,N) A, float(M) b) -> (O) { t(m) +=! A(m,n) * A(m,n)  O(m) = sqrt(t(m)) + b(m) }",
                        {{"M", 13}, {"N", 71}});
  auto schedule = shared_schedule(program, R"({"tiles":[[4,2]],"reduction_threads":16})");
  schedule.stages[1] = codegen::Epilogue{0};
  test::expect_right(program, schedule);
  schedule.stages[0].nest().parallel_reduction = codegen::ParallelReduction{0, 71};
  schedule.stages[0].nest().reduction_block = {1};
  schedule.stages[0].nest().gpu().reduction_threads = 1;
  test::expect_right(program, schedule);
}

TEST_CASE("a shared reduction takes registers and shared memory alone") {
  if (test::ptxas().empty()) {
    WARN("skipped: there is no ptxas");
    return;
  }
  const auto one = GENERATE(
      SharedCase{
          kRows, {{"M", 4096}, {"N", 8192}}, R"({"tiles":[[1,1]],"reduction_threads":256,"reduction_unroll":[8]})"},
      SharedCase{
          kRows, {{"M", 999}, {"N", 1009}}, R"({"tiles":[[8,4]],"reduction_threads":64,"reduction_unroll":[4]})"},
      SharedCase{
          kColumns,
          {{"M", 8192}, {"N", 8192}},
          R"({"tiles":[[128,4]],"gpu_vector_loop":0,"gpu_lanes":4,"reduction_threads":8,"reduction_unroll":[4]})"},
      SharedCase{kAll,
                 {{"M", 4096}, {"N", 4099}},
                 R"({"reduction_threads":512,"reduction_block":[16,4099],"reduction_unroll":[1,8],
                     "parallel_reduction":{"loop":0,"pieces":256}})"},
      SharedCase{"def f(half(M,N) A) -> (o) { o(m) +=! A(m,n) }",
                 {{"M", 64}, {"N", 4096}},
                 R"({"tiles":[[1,1]],"reduction_threads":128,"reduction_unroll":[4]})"},
      SharedCase{"def f(double(M,N) A) -> (o) { o(m) max=! A(m,n) }",
                 {{"M", 64}, {"N", 4097}},
                 R"({"tiles":[[2,1]],"reduction_threads":128,"reduction_unroll":[4]})"});
  CAPTURE(one.program, one.nest);
  const auto program = test::gpu_program(one.program, one.sizes);
  const auto schedule = shared_schedule(program, one.nest);
  const auto target = codegen::parse_target("x86-64-linux-cuda-cuda_capability_80").value();
  REQUIRE(codegen::check_for(target, program, schedule));
  for (const auto& result : test::assembled(program, schedule, target)) {
    CAPTURE(result.device, result.registers);
    CHECK(result.error == "");
    CHECK(result.stack_bytes == 0);
    CHECK(result.spilled_bytes == 0);
    CHECK(result.registers <= 64);
  }
}

}  // namespace tile_tune
