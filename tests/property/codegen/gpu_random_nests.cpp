#include "tests/property/codegen/gpu_random_nests.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/property/codegen/gpu_run.h"
#include "tests/property/codegen/gpu_schedules.h"

namespace tile_tune::test {

const std::vector<GpuCase>& gpu_cases() {
  static const std::vector<GpuCase> cases{
      {"def f(float(N,C,H,W) I, float(F,C,3,3) V) -> (O) { O(n,f,h,w) +=! I(n,c,h+kh,w+kw) * V(f,c,kh,kw) "
       "where kh in 0:3, kw in 0:3 }",
       {{"N", 2}, {"C", 3}, {"F", 4}, {"H", 9}, {"W", 11}}},
      {"def f(float(M,N) A) -> (B) { B(j,i) = A(i,j) }", {{"M", 23}, {"N", 41}}},
      {"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }", {{"M", 19}, {"N", 35}, {"K", 23}}},
      {"def f(float(N) I, float(K) V) -> (O, P) { t(i) +=! I(i+k) * V(k)  u(i) +=! t(2*i + k) * V(k)  O(i) = u(i) * 2  "
       "P(i) = t(20 - i) + t(22 - i) where i in 0:20 }",
       {{"N", 67}, {"K", 4}}},
      {"def f(float(N,M) A, int32(N) I) -> (O) { O(n,m) = A(I(n),m) }", {{"N", 19}, {"M", 33}}},
      {"def f(float(A,B,C,D) X, float(D,E,B) Y) -> (O) { O(c,a,e) +=! X(a,b,c,d) * Y(d,e,b) }",
       {{"A", 6}, {"B", 5}, {"C", 7}, {"D", 4}, {"E", 3}}},
      {"def f(int8(M,K) A, int8(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }", {{"M", 13}, {"N", 31}, {"K", 37}}},
      {"def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       {{"M", 13}, {"N", 30}, {"K", 16}}},
  };
  return cases;
}

void expect_right(const ir::Program& program, const codegen::Schedule& schedule) {
  if (!has_opencl()) {
    WARN("skipped: no OpenCL device (Debian: pocl-opencl-icd)");
    return;
  }
  CAPTURE(codegen::to_json(schedule).dump());
  CHECK(wrong_on_opencl(program, schedule) == "");
}

void check_random(unsigned seed, const GpuCase& one) {
  std::mt19937 random(seed);
  const auto program = gpu_program(one.text, one.sizes);
  expect_right(program, random_gpu_schedule(program, random));
}

}  // namespace tile_tune::test
