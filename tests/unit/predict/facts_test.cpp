// The loop nest and its facts, against counts made by hand.
#include "search/predict/facts.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "search/predict/nest.h"
#include "tests/unit/predict/programs.h"

namespace tile_tune::predict {
namespace {

/// 64 x 48 x 32: m in tiles of 16 and 4, n in tiles of 32 (the second moved back) and 16, k by two.
codegen::NestSchedule two_levels() {
  codegen::NestSchedule stage;
  stage.tiles = {{16, 4}, {32, 16}};
  stage.order = {{0, 1}, {1, 0}};
  stage.cpu().parallel = 1;
  stage.cpu().vector_loop = 1;
  stage.cpu().lanes = 16;
  stage.reduction_order = {0};
  stage.reduction_block = {32};
  stage.reduction_unroll = {2};
  stage.packings = {{1, 2, {1, 0}}};
  return stage;
}

StageFacts facts_of(const ir::Program& program, const codegen::NestSchedule& stage,
                    const codegen::Target& target = machine()) {
  return stage_facts(program, 0, codegen::loops_of(program, program.statements[0]), stage, target);
}

std::vector<double> trips(const Nest& nest) {
  std::vector<double> result;
  for (const auto& loop : nest.loops) result.push_back(loop.trips);
  return result;
}

}  // namespace

TEST_CASE("the nest of two tile levels") {
  const auto program = matmul(64, 48, 32);
  const auto loops = codegen::loops_of(program, program.statements[0]);
  const Nest nest = nest_of(loops, two_levels(), false);
  CHECK(trips(nest) == std::vector<double>{4, 2, 2, 4, 16});
  CHECK(nest.inner.front() == std::vector<int64_t>{64, 48, 32});
  CHECK(nest.inner[2] == std::vector<int64_t>{16, 32, 32});
  CHECK(nest.inner.back() == std::vector<int64_t>{4, 16, 2});
  CHECK(nest.at_depth == std::vector{0, 1, 2, 3, 4});
  CHECK(nest.runs(4) == 64);
  CHECK_FALSE(nest.home);
  CHECK_FALSE(nest.loops.back().tiles);
}

TEST_CASE("blocks of a reduction run between the first and the second tile level") {
  const auto program = matmul(64, 48, 32);
  const auto loops = codegen::loops_of(program, program.statements[0]);
  auto stage = two_levels();
  stage.reduction_block = {8};
  const Nest nest = nest_of(loops, stage, true);
  CHECK(trips(nest) == std::vector<double>{4, 2, 4, 2, 4, 4});
  CHECK(nest.home);
  CHECK(nest.at_depth == std::vector{0, 1, 3, 4, 5});  // a copy at depth 2 is one of a block
  const StageFacts facts = facts_of(program, stage);
  CHECK(facts.home_visits == 4);
  CHECK(facts.home_bytes == 16 * 32 * 4);
  CHECK(facts.accumulate_trips == 4);
}

TEST_CASE("bytes of the lines an operand lies in") {
  const auto program = matmul(64, 48, 32);
  const auto loops = codegen::loops_of(program, program.statements[0]);
  const auto &a = loops.operands[0], &b = loops.operands[1];
  CHECK(line_bytes(program, loops, a, {4, 16, 32}, nullptr) == 4 * 128);
  CHECK(line_bytes(program, loops, a, {4, 16, 2}, nullptr) == 4 * 64);  // two elements, one line
  CHECK(line_bytes(program, loops, b, {4, 16, 32}, nullptr) == 32 * 64);
  const std::vector<int> columns{0, 1};  // stored k innermost
  CHECK(line_bytes(program, loops, b, {4, 16, 32}, &columns) == 16 * 128);
  CHECK(output_bytes(program, program.statements[0], loops, {4, 17, 32}, 4) == 4 * 128);
}

TEST_CASE("facts of a matrix product's stage") {
  const StageFacts facts = facts_of(matmul(64, 48, 32), two_levels());
  CHECK(facts.points == 64 * 48 * 32);
  CHECK(facts.output == 64 * 48);
  CHECK(facts.lanes == 1);
  CHECK(facts.contiguous == 0.5);  // B from its copy
  CHECK(facts.broadcast == 0.5);   // A
  CHECK(facts.strided == 0);
  CHECK(facts.accumulators == 4);
  CHECK(facts.rows == 4);
  CHECK(facts.unroll == 2);
  CHECK(facts.body == 8);
  CHECK(facts.loads == (4 * 2 + 2) / 8.0);
  CHECK(facts.pressure == (4 + 1 + 1) / 32.0);
  CHECK(facts.wasted == Approx(64 / 48.0));
  CHECK(facts.inner_trips == 16);
  CHECK(facts.accumulate_trips == 16);
  CHECK(facts.grains == 4);
  CHECK(facts.grains_each == 2);
  CHECK(facts.imbalance == 1);
  CHECK(facts.packed == 1);
  CHECK(facts.copied == Approx(32 * 32 * 8 / (64.0 * 48 * 32)));  // a panel of 32 x 32 for each of 4 x 2 tiles
  CHECK(facts.copied_alone == 0);
  CHECK(facts.panel_l1 == Approx(32 * 128 / 32768.0));
  CHECK(facts.written == 4.0 / 32);
}

TEST_CASE("threads, strides, and copies that one thread makes") {
  auto stage = two_levels();
  stage.packings = {{1, 0, {0, 1}}};
  const StageFacts facts = facts_of(matmul(64, 48, 32), stage, machine(3));
  CHECK(facts.imbalance == 1.5);  // four pieces on three threads take two turns
  CHECK(facts.copied_alone == facts.copied);
  CHECK(facts.strided == 0.5);     // the copy of B has k innermost, the lanes run along n
  CHECK(facts.copy_stride == 48);  // and walks B down its columns
  stage.cpu().parallel = 0;
  CHECK(facts_of(matmul(64, 48, 32), stage, machine(3)).idle == 3);
}

TEST_CASE("traffic falls with tiles that keep an operand") {
  const auto program = matmul(1024, 1024, 1024);
  auto stage = two_levels();
  stage.packings.clear();
  stage.reduction_block = {1024};
  stage.tiles = {{4, 4}, {16, 16}};
  const StageFacts small = facts_of(program, stage);
  stage.tiles = {{256, 4}, {64, 16}};
  const StageFacts large = facts_of(program, stage);
  CHECK(large.traffic_l2 < small.traffic_l2 / 3);
  CHECK(large.traffic_l3 <= small.traffic_l3);
  // All three matrices fit the last cache: what comes in is what there is.
  CHECK(large.traffic_l3 == Approx(3 * 1024.0 * 1024 * 4 / (1024.0 * 1024 * 1024)));
}

TEST_CASE("a reduction in lanes, a scalar result, an extent of 0") {
  const auto sum = program_of("def f(float(N) A) -> (s) { s +=! A(i) }", {{"N", 1000}});
  codegen::NestSchedule stage;
  stage.order = {{}};
  stage.cpu().vector_loop = 0;
  stage.cpu().lanes = 16;
  stage.reduction_order = {0};
  stage.reduction_block = {1000};
  stage.reduction_unroll = {4};
  const StageFacts facts = facts_of(sum, stage);
  CHECK(facts.reduces_lanes == 1);
  CHECK(facts.contiguous == 1);
  CHECK(facts.inner_trips == 16);  // 1000 in steps of 64
  CHECK(facts.unaligned_tail == Approx(8 / 1000.0));
  CHECK(facts.grains == 1);

  const StageFacts empty = facts_of(matmul(0, 48, 32), [] {
    auto stage = two_levels();
    stage.tiles[0] = {1, 1};
    return stage;
  }());
  for (const auto& fact : kFacts) {
    INFO(fact.name);
    CHECK(std::isfinite(empty.*fact.value));
  }
}

}  // namespace tile_tune::predict
