// What the static model says of GPU schedules where it can be counted by hand.
#include "search/predict/gpu_facts.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "search/predict/features.h"
#include "search/space/space.h"
#include "tests/unit/predict/programs.h"

namespace tile_tune::predict {
namespace {

codegen::Target ampere() { return codegen::parse_target("x86-64-linux-cuda-cuda_capability_80").value(); }

/// Blocks of 128 x 128 by 256 threads of 8 x 8, both operands staged 16 steps at a time, the first turned.
codegen::NestSchedule product_template() {
  codegen::NestSchedule stage;
  codegen::GpuMapping mapping;
  mapping.vector_loop = 1;
  mapping.lanes = 4;
  mapping.interleaved = true;
  mapping.padding = 4;
  stage.mapping = mapping;
  stage.tiles = {{128, 8}, {128, 8}};
  stage.order = {{0, 1}, {0, 1}};
  stage.reduction_order = {0};
  stage.reduction_block = {16};
  stage.reduction_unroll = {16};
  stage.packings = {{0, 2, {0, 1}}, {1, 2, {1, 0}}};
  return stage;
}

GpuFacts gpu_facts_of(const ir::Program& program, const codegen::NestSchedule& stage) {
  return gpu_facts(program, 0, codegen::loops_of(program, program.statements[0]), stage,
                   codegen::device_limits(ampere()));
}

}  // namespace

TEST_CASE("a product in registers: what blocks take, and what of a thread's instructions are multiply-adds", "[unit]") {
  const auto program = matmul(1024, 1024, 1024);
  const GpuFacts facts = gpu_facts_of(program, product_template());
  CHECK(facts.threads == 256);
  CHECK(facts.blocks == 64);
  CHECK(facts.sums == 64);
  CHECK(facts.shared_bytes == 2 * 16 * (128 + 4) * 4);
  CHECK(facts.reduction_trips == 64);
  CHECK(facts.wasted == 1);
  CHECK(facts.sector_use == 1);
  CHECK(facts.store_use == 1);
  // Assembled it has 119 to 123 registers and a share of 0.874.
  CHECK(facts.registers == Approx(123).margin(8));
  CHECK(facts.resident == 2);
  CHECK(facts.fma_share == Approx(0.874).margin(0.05));
  // Each block reads its rows and columns once.
  CHECK(facts.from_l2 * facts.points == Approx(64 * 2 * 128 * 1024 * 4 + 1024 * 1024 * 4));
}

TEST_CASE("elements side by side make threads of a warp wait for each other's banks, pieces apart do not", "[unit]") {
  const auto program = matmul(1024, 1024, 1024);
  auto stage = product_template();
  const double apart = gpu_facts_of(program, stage).load_cycles;
  stage.gpu().interleaved = false;
  CHECK(gpu_facts_of(program, stage).load_cycles > apart);
  CHECK(gpu_cycles(gpu_facts_of(program, stage), codegen::device_limits(ampere())) >=
        gpu_cycles(gpu_facts_of(program, product_template()), codegen::device_limits(ampere())));
}

TEST_CASE("a warp stays on its partition of a multiprocessor: five take as long as eight", "[unit]") {
  const auto limits = codegen::device_limits(ampere());
  GpuFacts facts;
  facts.threads = 32;
  facts.resident = 16;
  facts.fma_cycles = 1e6;
  const auto cycles = [&](int of_each) {
    facts.blocks = of_each * limits.multiprocessors;
    return gpu_cycles(facts, limits);
  };
  CHECK(cycles(5) == Approx(cycles(8)));
  CHECK(cycles(4) == Approx(cycles(8) / 2).epsilon(0.01));
}

TEST_CASE("threads along the rows of a matrix use an eighth of what their warps read", "[unit]") {
  const auto program = program_of("def f(float(N,M) X) -> (O) { O(n,m) = 2 * X(n,m) }", {{"N", 1024}, {"M", 1024}});
  codegen::NestSchedule stage;
  stage.mapping = codegen::GpuMapping{};
  stage.tiles = {{1, 1}, {256, 1}};
  stage.order = {{0, 1}, {0, 1}};
  CHECK(gpu_facts_of(program, stage).sector_use == 1);
  CHECK(gpu_facts_of(program, stage).store_use == 1);
  stage.tiles = {{256, 1}, {1, 1}};
  CHECK(gpu_facts_of(program, stage).sector_use == 0.125);
  CHECK(gpu_facts_of(program, stage).store_use == 0.125);
}

TEST_CASE("blocks that do not fill the last wave show, and so do last blocks in part", "[unit]") {
  const auto program = matmul(1040, 1024, 64);
  const GpuFacts facts = gpu_facts_of(program, product_template());
  CHECK(facts.blocks == 72);
  CHECK(facts.wasted == Approx(1152.0 / 1040));
  CHECK(facts.waves == 1);
  CHECK(facts.tail == Approx(2 * 108 / 72.0));
  CHECK(facts.busy == Approx(72 / 108.0));
}

TEST_CASE("rows of GPU schedules have a name for every column, whatever the program", "[unit]") {
  const auto names = feature_names(codegen::Device::Gpu);
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  CHECK(names != feature_names());
  search::Rng rng(5);
  const std::vector<ir::Program> programs{
      matmul(64, 48, 32), matmul(7, 1, 3), matmul(4, 0, 3),
      program_of("def f(float(N,D) X) -> (O) { M(n) max=! X(n,d) O(n,d) = exp(X(n,d) - M(n)) }", {{"N", 9}, {"D", 33}}),
      program_of("def f(float(N,D) T, int32(B) I) -> (O) { O(b,d) = T(I(b),d) }", {{"N", 9}, {"D", 33}, {"B", 5}})};
  for (const auto& program : programs) {
    const search::Space space(program, ampere());
    const Features features(program, ampere());
    for (int i = 0; i < 20; ++i) {
      const auto schedule = i == 0 ? space.default_schedule() : space.sample(rng).schedule;
      const auto row = features.row(schedule);
      REQUIRE(row.size() == names.size());
      CHECK(std::isfinite(features.estimate(schedule)));
      for (size_t c = 0; c < row.size(); ++c) {
        INFO(names[c]);
        CHECK_FALSE(std::isinf(row[c]));
        CHECK((!std::isnan(row[c]) || names[c].starts_with("rest_")));
      }
    }
  }
}

}  // namespace tile_tune::predict
