// Kernels that Halide compiles, end to end.
#include <catch2/catch.hpp>
#include <cmath>

#include "codegen/target/host.h"
#include "frontend/ir/canonical.h"
#include "search/space/space.h"
#include "search/workers/workers.h"
#include "tests/unit/judge/programs.h"

using namespace tile_tune;
using namespace tile_tune::search;

namespace {

// c(i, j) = sum over k of a(i, k) * b(k, j)
ir::Program matmul(int64_t m, int64_t n, int64_t k) {
  ir::Program program;
  program.name = "matmul";
  program.tensors = {{"a", DType::F32, {m, k}, ir::Role::Input, ir::Storage::col()},
                     {"b", DType::F32, {k, n}, ir::Role::Input},
                     {"c", DType::F32, {m, n}, ir::Role::Output}};
  program.inputs = {0, 1};
  program.outputs = {2};
  ir::Statement statement;
  statement.target = 2;
  statement.subscripts = {ir::AffineExpr::index(0), ir::AffineExpr::index(1)};
  statement.indices = {{"i", 0, m, ""}, {"j", 0, n, ""}, {"k", 0, k, ""}};
  statement.op = ir::Aggregation::Sum;
  const auto a = ir::make_expr(DType::F32, ir::Read{0, {ir::AffineExpr::index(0), ir::AffineExpr::index(2)}});
  const auto b = ir::make_expr(DType::F32, ir::Read{1, {ir::AffineExpr::index(2), ir::AffineExpr::index(1)}});
  statement.value = ir::make_expr(DType::F32, ir::Call{ir::Op::Mul, {a, b}});
  program.statements = {statement};
  return ir::canonicalize(program);
}

WorkerOptions options_for(const codegen::Target& target) {
  WorkerOptions options;
  options.command = {"/proc/self/exe", "worker"};
  options.target = target;
  options.jobs = 2;
  options.race_seconds_per_kernel = 0.005;
  options.finals_seconds = 0;
  return options;
}

}  // namespace

TEST_CASE("default and random schedules of a matrix product are right and timed on two threads") {
  const auto target = codegen::resolve_target("host", 2);
  REQUIRE(target);
  const Space space(matmul(67, 53, 31), *target);
  Rng rng(3);
  std::vector<codegen::Schedule> batch = {space.default_schedule(), space.sample(rng).schedule,
                                          space.sample(rng).schedule};
  const auto workers = Workers::start(space.program(), batch[0], options_for(*target));
  INFO((workers ? "" : workers.error().message));
  REQUIRE(workers);
  const auto result = (*workers)->measure(batch, batch[0]);
  REQUIRE(result.size() == 3);
  for (const auto& measurement : result) {
    CAPTURE(outcome_name(measurement.outcome), measurement.reason);
    CHECK((measurement.outcome == Outcome::Ok || measurement.outcome == Outcome::Slow));
    CHECK(measurement.verify_error > 0);
    CHECK(measurement.verify_error <= 1);
    CHECK(measurement.code_hash.size() == 64);
  }
  const auto finals = (*workers)->finals({batch[0], batch[1]});
  REQUIRE(finals.size() == 2);
  // On a machine that is busy elsewhere the probes may say nothing.
  CHECK((finals[0].flop_fraction > 0 || finals[0].roof_unknown));
  CHECK(std::isfinite(finals[0].flop_fraction));
}

TEST_CASE("an in/out program accumulates once from the value it was given") {
  const auto target = codegen::resolve_target("host", 1);
  REQUIRE(target);
  const Space space(ir::canonicalize(test::accumulating(37)), *target);
  const auto schedule = space.default_schedule();
  const auto workers = Workers::start(space.program(), schedule, options_for(*target));
  REQUIRE(workers);
  const auto result = (*workers)->measure({schedule}, schedule);
  REQUIRE(result.size() == 1);
  CAPTURE(result[0].reason);
  CHECK(result[0].outcome == Outcome::Ok);
}
