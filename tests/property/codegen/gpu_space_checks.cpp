#include "tests/property/codegen/gpu_space_checks.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "search/predict/features.h"
#include "search/space/space.h"
#include "tests/property/codegen/gpu_assembly.h"
#include "tests/property/codegen/gpu_random_nests.h"
#include "tests/property/codegen/gpu_run.h"

namespace tile_tune {
namespace {

struct Case {
  const char* text;
  ir::Sizes large, odd;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
       {{"M", 1024}, {"N", 1024}, {"K", 1024}},
       {{"M", 61}, {"N", 67}, {"K", 36}}},
      {"def f(float(A,D,B) x, float(C,D) y) -> (z) { z(c,b,a) +=! x(a,d,b) * y(c,d) }",
       {{"A", 64}, {"B", 64}, {"C", 96}, {"D", 128}},
       {{"A", 7}, {"B", 19}, {"C", 21}, {"D", 20}}},
      {"def f(float(B,IP,H,W) input, float(OP,IP,KH,KW) weight) -> (output) "
       "{ output(b,op,h,w) +=! input(b,ip,h+kh,w+kw) * weight(op,ip,kh,kw) }",
       {{"B", 16}, {"IP", 32}, {"OP", 32}, {"H", 58}, {"W", 58}, {"KH", 3}, {"KW", 3}},
       {{"B", 2}, {"IP", 4}, {"OP", 5}, {"H", 13}, {"W", 15}, {"KH", 3}, {"KW", 3}}},
      {"def f(float(R,C) A, float(C) B) -> (o) { o(i) +=! A(i,j) * B(j) }",
       {{"R", 4096}, {"C", 4096}},
       {{"R", 131}, {"C", 77}}},
      {"def f(float(B,C,H,W) input) -> (output) { output(b,c,i,j) max=! input(b,c,2*i + kw, 2*j + kh) "
       "where kw = [0, 2[, kh = [0, 2[ }",
       {{"B", 16}, {"C", 64}, {"H", 112}, {"W", 112}},
       {{"B", 2}, {"C", 3}, {"H", 37}, {"W", 43}}},
      {"def f(float(A,B,C) I) -> (O) { O(c,b,a) = I(a,b,c) }",
       {{"A", 256}, {"B", 64}, {"C", 256}},
       {{"A", 33}, {"B", 5}, {"C", 70}}},
      {"def f(float(N,D) X) -> (O) { M(n) max=! X(n,d)  E(n,d) = exp(X(n,d) - M(n))  S(n) +=! E(n,d)  O(n,d) = E(n,d) "
       "/ S(n) }",
       {{"N", 512}, {"D", 1024}},
       {{"N", 13}, {"D", 37}}},
      {"def f(float(A,B) X) -> (O) { O() +=! X(a,b) }", {{"A", 1024}, {"B", 1024}}, {{"A", 40}, {"B", 91}}}};
  return all;
}

/// Random ones that are worth a trial.
codegen::Schedule drawn(const search::Space& space, const predict::Features& features, search::Rng& rng) {
  for (int i = 0; i < 100; ++i) {
    auto schedule = space.sample(rng).schedule;
    if (!features.hopeless(schedule)) return schedule;
  }
  return space.default_schedule();
}

const char* const kCuda = "x86-64-linux-cuda-cuda_capability_80";

}  // namespace

namespace test {

void check_right_on_opencl(int random) {
  search::Rng rng(71);
  for (const Case& one : cases()) {
    const auto program = gpu_program(one.text, one.odd);
    const search::Space space(program, opencl_host());
    INFO(one.text);
    expect_right(program, space.default_schedule());
    for (int i = 0; i < random; ++i) expect_right(program, space.sample(rng).schedule);
  }
}

void check_assembled(int random, double share) {
  if (ptxas().empty()) {
    std::cout << "skipped: there is no ptxas (of the CUDA toolkit) on this machine\n";
    return;
  }
  const auto target = codegen::parse_target(kCuda).value();
  search::Rng rng(72);
  int all = 0, good = 0;
  std::string bad;
  for (const Case& one : cases()) {
    const auto program = gpu_program(one.text, one.large);
    const search::Space space(program, target);
    const predict::Features features(program, target);
    for (int i = 0; i <= random; ++i) {
      const auto schedule = i == 0 ? space.default_schedule() : drawn(space, features, rng);
      bool in_registers = true;
      for (const auto& result : assembled(program, schedule, target)) {
        const bool is_good = result.error.empty() && result.stack_bytes == 0 && result.spilled_bytes == 0;
        in_registers &= is_good;
        if (is_good) continue;
        bad += one.text + std::string("\n  ") + codegen::to_json(schedule).dump() + "\n  " + result.device + ": " +
               std::to_string(result.stack_bytes) + " bytes of stack, " + std::to_string(result.spilled_bytes) +
               " spilled " + result.error + "\n";
      }
      INFO(bad);
      if (i == 0) CHECK(in_registers);
      ++all;
      good += in_registers;
    }
  }
  INFO(bad << good << " of " << all << " are in registers");
  CHECK(good >= share * all);
}

}  // namespace test
}  // namespace tile_tune
