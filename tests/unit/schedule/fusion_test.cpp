// What may share a nest, how much of a producer one iteration needs, and which schedules are refused.
#include "codegen/schedule/fusion.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"
#include "frontend/tc/parse.h"
#include "search/space/space.h"

namespace tile_tune::codegen {
namespace {

ir::Program bound(const std::string& text, const ir::Sizes& sizes) {
  const auto parsed = tc::parse(text, "test.tc");
  REQUIRE(parsed.has_value());
  const auto program = ir::bind(parsed->programs.at(0), sizes);
  REQUIRE(program.has_value());
  return ir::canonicalize(*program);
}

Target machine() {
  Target target;
  target.threads = 2;
  target.vector_bytes = 64;
  target.vector_registers = 32;
  target.l1_bytes = 32 << 10;
  target.l2_bytes = 1 << 20;
  target.l3_bytes = 32 << 20;
  return target;
}

NestSchedule tiled(const std::vector<std::vector<int64_t>>& tiles, const std::vector<std::vector<int>>& order,
                   const std::vector<int64_t>& reduction = {}) {
  NestSchedule stage;
  stage.tiles = tiles;
  stage.order = order;
  for (size_t r = 0; r < reduction.size(); ++r) stage.reduction_order.push_back(static_cast<int>(r));
  stage.reduction_block = reduction;
  stage.reduction_unroll.assign(reduction.size(), 1);
  return stage;
}

const std::string kLayer =
    "def f(float(M,K) A, float(K,N) B, float(N) c) -> (O) { t(m,n) +=! A(m,k) * B(k,n)  O(m,n) = fmax(t(m,n) + c(n), "
    "0) }";
const std::string kSoftmax =
    "def f(float(N,M) X) -> (O) { m(n) max=! X(n,k)  e(n,k) = exp(X(n,k) - m(n))  s(n) +=! e(n,k)  O(n,k) = e(n,k) / "
    "s(n) "
    "}";

// Softmax of 20 x 30 by blocks of 3 rows of the last statement.
Schedule softmax_by_rows() {
  Schedule schedule;
  schedule.stages = {tiled({{1}}, {{0}}, {30}), tiled({{1}, {6}}, {{0, 1}}), tiled({{3}}, {{0}}, {30}),
                     tiled({{3, 1}, {30, 5}}, {{0, 1}, {0, 1}})};
  for (int s = 0; s < 3; ++s) schedule.stages[s].nest().compute_at = ComputeAt{3, 1};
  return schedule;
}

}  // namespace

TEST_CASE("an element-wise statement may finish the tiles of the reduction that only it reads") {
  const auto program = bound(kLayer, {{"M", 12}, {"N", 8}, {"K", 5}});
  Schedule schedule;
  schedule.stages = {tiled({{4}, {8}}, {{0, 1}}, {5}), {}};
  schedule.stages[1] = Epilogue{0};
  CHECK(Fusion(program, schedule).epilogue_loops(1, 0) == std::vector<int>{0, 1});
  CHECK(check(program, schedule).has_value());

  const auto transposed =
      bound("def f(float(M,K) A, float(K,N) B) -> (O) { t(m,n) +=! A(m,k) * B(k,n)  O(n,m) = t(m,n) * 2 }",
            {{"M", 12}, {"N", 8}, {"K", 5}});
  CHECK(Fusion(transposed, schedule).epilogue_loops(1, 0) == std::vector<int>{1, 0});

  const auto shifted = bound(
      "def f(float(M,K) A, float(K,N) B) -> (O) { t(m,n) +=! A(m,k) * B(k,n)  O(m,n) = t(m+1,n) where m in 0:11 }",
      {{"M", 12}, {"N", 8}, {"K", 5}});
  CHECK_FALSE(Fusion(shifted, schedule).epilogue_loops(1, 0));
  CHECK_FALSE(check(shifted, schedule).has_value());
}

TEST_CASE("a loop that runs once may be read at a constant by an epilogue, as a broadcast operand is") {
  const std::string layer =
      "def f(float(M,K) A, float(K,N) B) -> (O) { t(m,n) +=! A(m,k) * B(k,n)  O(n,m) = fmax(t(0,n), 0) where m in 0:1 "
      "}";
  Schedule schedule;
  schedule.stages = {tiled({{1}, {8}}, {{0, 1}}, {5}), {}};
  schedule.stages[1] = Epilogue{0};
  const auto one_row = bound(layer, {{"M", 1}, {"N", 8}, {"K", 5}});
  CHECK(Fusion(one_row, schedule).epilogue_loops(1, 0) == std::vector<int>{1, 0});
  const auto two_rows = bound(layer, {{"M", 2}, {"N", 8}, {"K", 5}});
  CHECK_FALSE(Fusion(two_rows, schedule).epilogue_loops(1, 0));
}

TEST_CASE("what a block of rows of a softmax needs") {
  const auto program = bound(kSoftmax, {{"N", 20}, {"M", 30}});
  const Schedule schedule = softmax_by_rows();
  const Fusion fusion(program, schedule);
  CHECK(fusion.extents(0) == std::vector<int64_t>{3});
  CHECK(fusion.extents(1) == std::vector<int64_t>{3, 30});
  CHECK(fusion.extents(2) == std::vector<int64_t>{3});
  CHECK(fusion.extents(3) == std::vector<int64_t>{20, 30});
  CHECK(check(program, schedule).has_value());
  // One level further in, O needs five columns of e, but s all of them.
  CHECK_FALSE(fusion.extents(1, ComputeAt{3, 4}));
}

TEST_CASE("windows overlap between blocks") {
  const auto program =
      bound("def f(float(N) I, float(K) V) -> (O) { t(i) +=! I(i+k) * V(k)  O(i) +=! t(2*i+k) * V(k) }",
            {{"N", 40}, {"K", 3}});
  Schedule schedule;
  schedule.stages = {tiled({{1}}, {{0}}, {3}), tiled({{4}}, {{0}}, {3})};
  CHECK(Fusion(program, schedule).extents(0, ComputeAt{1, 1}) == std::vector<int64_t>{9});
}

TEST_CASE("impossible places are refused") {
  const auto program = bound(kSoftmax, {{"N", 20}, {"M", 30}});
  const auto refused = [&](auto change) {
    Schedule schedule = softmax_by_rows();
    change(schedule.stages);
    return !check(program, schedule).has_value();
  };
  CHECK_FALSE(refused([](auto&) {}));
  // Inputs may be packed before all blocks, what a block computes may not.
  CHECK_FALSE(refused([](auto& stages) { stages[1].nest().packings = {{0, -1, {1, 0}}}; }));
  CHECK(refused([](auto& stages) { stages[1].nest().packings = {{1, -1, {0}}}; }));
  CHECK(refused([](auto& stages) { stages[0].nest().compute_at->statement = 4; }));
  CHECK(refused([](auto& stages) { stages[0].nest().compute_at->statement = 0; }));
  CHECK(refused([](auto& stages) { stages[0].nest().compute_at->statement = 1; }));
  CHECK(refused([](auto& stages) { stages[0].nest().compute_at->depth = 0; }));
  CHECK(refused([](auto& stages) { stages[0].nest().compute_at->depth = 5; }));
  CHECK(refused([](auto& stages) { stages[0].nest().cpu().parallel = 1; }));
  CHECK(refused([](auto& stages) { stages[0].nest().tiles[0][0] = 4; }));
  // e is not inside the nest any more, so what it reads cannot be either.
  CHECK(refused([](auto& stages) { stages[1].nest().compute_at.reset(); }));
  CHECK(refused([](auto& stages) { stages[3] = Epilogue{3}; }));
  CHECK(refused([](auto& stages) { stages[3] = Epilogue{9}; }));
  CHECK(refused([](auto& stages) { stages[3] = Epilogue{-1}; }));
  // Two loops run as one parallel loop; nothing can be between them.
  CHECK(refused([](auto& stages) { stages[3].nest().cpu().parallel = 2; }));
  CHECK(refused([](auto& stages) { stages[3].nest().packings = {{0, 0, {0, 1}}}; }));
}

TEST_CASE("pieces of a reduction leave little over") {
  const auto accepted = [](ParallelReduction cut, int64_t block, int64_t extent = 24) {
    const auto program = bound("def f(float(N) A) -> (o) { o +=! A(i) }", {{"N", extent}});
    Schedule schedule;
    schedule.stages = {tiled({}, {{}}, {block})};
    schedule.stages[0].nest().parallel_reduction = cut;
    return check(program, schedule).has_value();
  };
  CHECK(accepted({0, 4}, 6));
  CHECK(accepted({0, 4}, 3));
  CHECK_FALSE(accepted({0, 4}, 24));
  CHECK(accepted({0, 5}, 4));
  CHECK(accepted({0, 17}, 2, 50));
  CHECK_FALSE(accepted({0, 18}, 1, 35));
  CHECK_FALSE(accepted({0, 1}, 24));
  CHECK_FALSE(accepted({1, 2}, 12));
  CHECK_FALSE(accepted({-1, 2}, 12));
}

TEST_CASE("schedules of version 1 are read, places survive their JSON form") {
  auto json = to_json(softmax_by_rows());
  CHECK(*schedule_from_json(json) == softmax_by_rows());
  json["version"] = 1;
  CHECK(schedule_from_json(json).has_value());
  json["version"] = Schedule::kCollapsedVersion + 1;
  CHECK_FALSE(schedule_from_json(json).has_value());
  json["version"] = Schedule::kCollapsedVersion;
  CHECK_FALSE(schedule_from_json(json).has_value());
  json["collapsed"] = true;
  CHECK(schedule_from_json(json)->collapsed);
  json["version"] = Schedule::kVersion;
  CHECK_FALSE(schedule_from_json(json).has_value());
  json.erase("collapsed");
  json["stages"][0]["compute_at"]["depth"] = 1.5;
  CHECK_FALSE(schedule_from_json(json).has_value());
}

TEST_CASE("defaults share nests, and random schedules try every place") {
  const auto program = bound(kSoftmax, {{"N", 200}, {"M", 300}});
  const search::Space space(program, machine());
  const auto schedule = space.default_schedule();
  for (int s = 0; s < 3; ++s) CHECK(schedule.stages[s].compute_at());
  CHECK(schedule.stages[3].nest().cpu().parallel == 1);

  const auto layer = bound(kLayer, {{"M", 120}, {"N", 80}, {"K", 50}});
  CHECK(search::Space(layer, machine()).default_schedule().stages[1] == Epilogue{0});
  const auto sum = bound("def f(float(N,M) A) -> (o) { o(j) +=! A(i,j) }", {{"N", 2048}, {"M", 64}});
  CHECK(search::Space(sum, machine()).default_schedule().stages[0].nest().parallel_reduction);

  search::Rng rng(3);
  int inside = 0, epilogues = 0, in_pieces = 0;
  for (int i = 0; i < 100; ++i) {
    for (const auto& stage : space.sample(rng).schedule.stages) inside += stage.compute_at() != nullptr;
    epilogues += search::Space(layer, machine()).sample(rng).schedule.stages[1] == Epilogue{0};
    in_pieces += search::Space(sum, machine()).sample(rng).schedule.stages[0].nest().parallel_reduction.has_value();
  }
  CHECK(inside > 20);
  CHECK(epilogues > 10);
  CHECK(in_pieces > 5);
}

TEST_CASE("a panel is not packed again for every row because its own loop runs once") {
  const auto program = bound("def f(float(M,K) A, float(N,K) B) -> (O) { O(m,n) +=! A(m,k) * B(n,k) }",
                             {{"M", 96}, {"N", 64}, {"K", 32}});
  Target alone = machine();
  alone.threads = 1;
  const auto stage = search::Space(program, alone).default_schedule().stages[0].nest();
  REQUIRE(stage.tiles[1].back() == 64);
  REQUIRE(stage.packings.size() == 1);
  CHECK(stage.packings[0].depth == 0);
}

}  // namespace tile_tune::codegen
