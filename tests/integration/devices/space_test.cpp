// Schedules of the GPU space as workers meet them: compiled to objects, and run by the runtime of emitted libraries on
// guarded memory.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/backend/kernel_abi.h"
#include "codegen/lower/compile.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/judge/kernel_arguments.h"
#include "search/space/space.h"
#include "tests/integration/devices/judge.h"

using namespace tile_tune;

namespace {

struct Case {
  const char* text;
  ir::Sizes sizes;
};

ir::Program program_of(const Case& one) {
  const auto parsed = tc::parse(one.text, "test.tc");
  REQUIRE(parsed);
  const auto bound = ir::bind(parsed->programs.at(0), one.sizes);
  REQUIRE(bound);
  return ir::canonicalize(*bound);
}

}  // namespace

TEST_CASE("schedules for devices compute what the reference does, inside of their memory") {
  if (!test::has_device()) return;
  const test::DeviceJudge judge;
  const auto check = [&](const ir::Program& program, const codegen::Schedule& schedule) {
    const auto object = judge.folder.path() / "kernel.o";
    INFO(codegen::to_json(schedule).dump());
    const auto compiled = codegen::compile_object(program, schedule, judge.target, search::kKernelFunction, object);
    INFO((compiled ? "" : compiled.error().message));
    REQUIRE(compiled);
    CHECK(judge.verified(program, object, 60).reason == "");
  };
  for (const Case& one :
       {Case{"def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
             {{"M", 33}, {"N", 29}, {"K", 20}}},
        {"def f(float(N,D) X) -> (O) { M(n) max=! X(n,d)  E(n,d) = exp(X(n,d) - M(n))  S(n) +=! E(n,d)  "
         "O(n,d) = E(n,d) / S(n) }",
         {{"N", 13}, {"D", 37}}},
        {"def f(float(A,B,C) I) -> (O) { O(c,b,a) = I(a,b,c) }", {{"A", 33}, {"B", 5}, {"C", 70}}}}) {
    const auto program = program_of(one);
    const search::Space space(program, judge.target);
    check(program, space.default_schedule());
    search::Rng rng(1);
    check(program, space.sample(rng).schedule);
  }
}
