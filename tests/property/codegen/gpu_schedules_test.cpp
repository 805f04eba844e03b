// GPU schedules compute what the reference does: on OpenCL, whose device may be this machine's CPU (PoCL).
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "tests/property/codegen/gpu_run.h"
#include "tests/property/codegen/gpu_schedules.h"

namespace tile_tune {
namespace {

const std::string kMatmul = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";

void expect_right(const ir::Program& program, const codegen::Schedule& schedule) {
  CAPTURE(codegen::to_json(schedule).dump());
  CHECK(test::wrong_on_opencl(program, schedule) == "");
}

}  // namespace

TEST_CASE("plain nests of programs") {
  struct Case {
    std::string text;
    ir::Sizes sizes;
  };
  const auto one = GENERATE(
      Case{kMatmul, {{"M", 61}, {"N", 67}, {"K", 71}}}, Case{kMatmul, {{"M", 1}, {"N", 1}, {"K", 1}}},
      Case{kMatmul, {{"M", 5}, {"N", 7}, {"K", 0}}},
      Case{"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }", {{"M", 19}, {"N", 35}, {"K", 23}}},
      Case{"def f(double(N) A) -> (o) { o *=! A(i) }", {{"N", 29}}},
      Case{"def f(float(B,C,H,W) input) -> (output) { output(b,c,i,j) max=! input(b,c,2*i + kw, 2*j + kh) "
           "where kw = [0, 2[, kh = [0, 2[ }",
           {{"B", 2}, {"C", 3}, {"H", 37}, {"W", 43}}},
      Case{"def f(float(N,M) X) -> (O) { m(n) max=! X(n,k)  e(n,k) = exp(X(n,k) - m(n))  s(n) +=! e(n,k)  O(n,k) = "
           "e(n,k) / s(n) }",
           {{"N", 13}, {"M", 37}}});
  const auto program = test::gpu_program(one.text, one.sizes);
  expect_right(program, test::plain_gpu_schedule(program));
}

TEST_CASE("functions of a GPU") {
  const std::string name = GENERATE(as<std::string>{}, "exp", "tanh", "sqrt", "log", "sin", "erf", "tgamma", "cbrt");
  const std::string type = GENERATE(as<std::string>{}, "float", "double");
  CAPTURE(name, type);
  const auto program = test::gpu_program("def f(" + type + "(N) X) -> (O) { O(i) = " + name + "(X(i)) }", {{"N", 1000}});
  expect_right(program, test::changed(test::plain_gpu_schedule(program), 0, [](codegen::NestSchedule& nest) {
                 nest.tiles = {{128, 4}};
                 nest.gpu().vector_loop = 0;
                 nest.gpu().lanes = 4;
               }));
}

TEST_CASE("random nests of a product") {
  const int seed = GENERATE(range(0, 12));
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto program = test::gpu_program(kMatmul, {{"M", 30}, {"N", 44}, {"K", 24}});
  expect_right(program, test::random_gpu_schedule(program, random));
}

}  // namespace tile_tune
