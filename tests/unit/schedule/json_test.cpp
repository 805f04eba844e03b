// The JSON form of schedules, which databases, configurations and recordings hold: it and the ids made of it stay.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/schedule/schedule.h"

namespace tile_tune::codegen {
namespace {

/// Every decision set, none but those that all nests have, and the two alternatives to a nest.
Schedule all_there_is() {
  NestSchedule nest;
  nest.compute_at = ComputeAt{3, 2};
  nest.tiles = {{24, 4}, {32, 16}};
  nest.order = {{0, 1}, {1, 0}};
  nest.mapping = CpuMapping{1, 1, 8};
  nest.reduction_order = {0};
  nest.reduction_block = {30};
  nest.reduction_unroll = {2};
  nest.parallel_reduction = ParallelReduction{0, 4};
  nest.packings = {{1, 2, {1, 0}}};
  nest.prefetches = {{0, 0, 4}};
  nest.dot_product = nest.scan = true;
  NestSchedule scalar;
  scalar.order = {{}};
  return {{nest, scalar, Inlined(), Epilogue{0}}};
}

std::string refusal(const std::string& stage) {
  const auto read =
      schedule_from_json(nlohmann::json::parse(R"({"kind": "schedule", "version": 2, "stages": [)" + stage + "]}"));
  REQUIRE_FALSE(read.has_value());
  return read.error().message;
}

}  // namespace

TEST_CASE("schedules have the JSON form that they always had, and the id of it", "[unit]") {
  const Schedule schedule = all_there_is();
  CHECK(to_json(schedule).dump() ==
        R"({"kind":"schedule","stages":[{"compute_at":{"depth":2,"statement":3},"dot_product":true,"lanes":)"
        R"(8,"order":[[0,1],[1,0]],"packings":[{"depth":2,"operand":1,"order":[1,0]}],"parallel":1,"paralle)"
        R"(l_reduction":{"loop":0,"pieces":4},"prefetches":[{"distance":4,"loop":0,"operand":0}],"reduction)"
        R"(_block":[30],"reduction_order":[0],"reduction_unroll":[2],"scan":true,"tiles":[[24,4],[32,16]],")"
        R"(vector_loop":1},{"lanes":1,"order":[[]],"packings":[],"parallel":0,"reduction_block":[],"reducti)"
        R"(on_order":[],"reduction_unroll":[],"tiles":[],"vector_loop":-1},{"inlined":true},{"epilogue_of":)"
        R"(0}],"version":2})");
  CHECK(schedule_id(schedule) == "d15394f55ef20651986185e5f1a31bb10acf3f4b97b551ddbca302b5d668ce0b");
  CHECK(schedule_from_json(to_json(schedule)).value() == schedule);

  // What was added since is left out where it says nothing.
  Schedule newer = schedule;
  newer.stages[0].nest().dot_pairs = true;
  CHECK(to_json(newer).dump().find(R"("dot_pairs":true,"dot_product":true)") != std::string::npos);
  CHECK(schedule_from_json(to_json(newer)).value() == newer);
}

TEST_CASE("schedules of a GPU have decisions of its own in the JSON form, and none of a CPU's", "[unit]") {
  NestSchedule nest;
  nest.tiles = {{128, 8}, {64, 4}};
  nest.order = {{0, 1}, {0, 1}};
  nest.mapping = GpuMapping{1, 4, true, 32, 4, true, 2};
  nest.reduction_order = {0};
  nest.reduction_block = {16};
  nest.reduction_unroll = {16};
  nest.packings = {{0, 2, {0, 1}}, {1, 2, {1, 0}}};
  const Schedule schedule{{nest}};
  CHECK(to_json(schedule)["stages"][0].dump() ==
        R"({"gpu_lanes":4,"gpu_vector_loop":1,"interleaved":true,"order":[[0,1],[0,1]],"packings":[{"depth":)"
        R"(2,"operand":0,"order":[0,1]},{"depth":2,"operand":1,"order":[1,0]}],"padding":4,"pipelined":true)"
        R"(,"reduction_block":[16],"reduction_order":[0],"reduction_threads":32,"reduction_unroll":[16],"re)"
        R"(sident_blocks":2,"tiles":[[128,8],[64,4]]})");
  CHECK(schedule_from_json(to_json(schedule)).value() == schedule);
}

TEST_CASE("what a schedule cannot hold is refused with what was expected", "[unit]") {
  const std::string nest =
      R"("tiles": [[1]], "order": [[0]], "parallel": 0, "vector_loop": -1, "lanes": 1, "reduction_order": [],
         "reduction_block": [], "reduction_unroll": [])";
  CHECK_THAT(refusal("{" + nest + "}"), Catch::Contains("stage 0: packings is missing"));
  CHECK_THAT(refusal("{" + nest + R"(, "packings": {}})"), Catch::Contains("an array was expected"));
  CHECK_THAT(refusal("{" + nest + R"(, "packings": [{"operand": 0.5, "depth": 0, "order": [0]}]})"),
             Catch::Contains("an integer was expected"));
  CHECK_THAT(refusal("{" + nest + R"(, "packings": [], "prefetches": [{"operand": 0, "loop": 0}]})"),
             Catch::Contains("stage 0: prefetches: distance is missing"));
  CHECK_THAT(refusal("{" + nest + R"(, "packings": [], "scan": 1})"),
             Catch::Contains("schedule: stage 0: scan: type must be boolean"));
  CHECK_THAT(refusal("{" + nest + R"(, "packings": [], "prefetchs": []})"),
             Catch::Contains("stage 0: there is no field prefetchs here"));
  CHECK_THAT(refusal("{" + nest + R"(, "packings": [{"operand": 0, "depth": 0, "order": [0], "z": 1}]})"),
             Catch::Contains("stage 0: packings: there is no field z here"));
  CHECK_THAT(refusal("{" + nest + R"(, "packings": [], "interleaved": true})"),  // a GPU's
             Catch::Contains("there is no field interleaved here"));
  CHECK_THAT(refusal("7"), Catch::Contains("stage 0: an object was expected"));
  CHECK_THAT(refusal(R"({"epilogue_of": "O"})"), Catch::Contains("an integer was expected"));
}

}  // namespace tile_tune::codegen
