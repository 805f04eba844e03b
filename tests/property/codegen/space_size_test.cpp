// The space is no toy (decision 22): for a 512^3 matrix product it has more than 10^6 schedules, and of 1,000 random
// ones at least 900 lower to different code; all are verified, on a smaller odd shape where the reference is quick.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {

TEST_CASE("of 1,000 random schedules of a matrix product at least 900 differ in code, and all are right", "[nightly]") {
  const std::string text = "def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  const ir::Program program = test::bound_program(text, {{"M", 512}, {"N", 512}, {"K", 512}});
  const search::Space space(program, test::host(2));
  CHECK(space.log10_size() > 6);
  test::KernelCheck check(program);
  search::Rng rng(2026);
  std::set<std::string> codes;
  for (int i = 0; i < 1000; ++i) {
    const auto schedule = space.sample(rng).schedule;
    CAPTURE(codegen::to_json(schedule).dump());
    const auto result = check(schedule);
    CHECK(result.error == "");
    CHECK(result.verdict.reason == "");
    codes.insert(result.compiled.code_hash);
  }
  CHECK(codes.size() >= 900);
}

}  // namespace tile_tune
