// Vectors that are longer than their loop, and where results of short loops are stored.
#include <algorithm>
#include <catch2/catch.hpp>

#include "codegen/schedule/check.h"
#include "codegen/schedule/masked_vector.h"
#include "search/space/choices.h"
#include "search/space/space.h"
#include "tests/unit/space/programs.h"

namespace tile_tune::search {
namespace {

codegen::Target avx2() {
  auto target = two_threads(32, 16, 1 << 20);
  target.features = {codegen::Feature::Avx, codegen::Feature::Avx2};
  return target;
}

codegen::Target zen4() {
  auto target = two_threads(64, 32, 1 << 20);
  target.features = {codegen::Feature::Avx512Zen4};
  target.tuned_for = codegen::Processor::ZnVer4;
  return target;
}

codegen::NestSchedule nest_of(const ir::Program& program, const codegen::Target& target) {
  const auto schedule = Space(program, target).default_schedule();
  REQUIRE(codegen::check(program, schedule).has_value());
  return schedule.stages.at(0).nest();
}

int masked_lanes_of_last(const ir::Program& program, const codegen::Target& target) {
  const auto loops = codegen::loops_of(program, program.statements[0]);
  const StageContext context{&program, &target, 0, loops, program.statements[0].accumulator};
  return masked_lanes(context, static_cast<int>(loops.output.size()) - 1);
}

}  // namespace

TEST_CASE("a few columns are one vector where it is loaded under a mask", "[unit]") {
  const auto seven = matmul(2048, 7, 256);
  const auto nest = nest_of(seven, avx2());
  CHECK(nest.vector_loop() == 1);
  CHECK(nest.lanes() == 8);
  CHECK(nest.tiles[1] == std::vector<int64_t>{8});
  CHECK(nest.tiles[0].back() > 8);
  auto sse = two_threads(16, 16, 1 << 20);
  CHECK(nest_of(seven, sse).lanes() == 4);
  // Lanes along the sum leave none out.
  const std::string doubles = "def f(double(M,K) A, double(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  CHECK(nest_of(matmul(2048, 3, 128, doubles), zen4()).vector_loop() == 2);
}

TEST_CASE("a vector is longer than its loop by less than that, and only along plain neighbours", "[unit]") {
  CHECK(masked_lanes_of_last(matmul(4, 7, 9), avx2()) == 8);
  CHECK(masked_lanes_of_last(matmul(4, 3, 9), avx2()) == 4);
  CHECK(masked_lanes_of_last(matmul(4, 13, 9), zen4()) == 16);
  for (const int64_t columns : {1, 2, 4, 8, 9}) CHECK(masked_lanes_of_last(matmul(4, columns, 9), avx2()) == 0);
  const auto of = [](const char* text) { return masked_lanes_of_last(bound(text, {{"M", 5}, {"N", 7}}), avx2()); };
  CHECK(of("def f(float(M,N) A) -> (C) { C(m,n) = A(m,n) }") == 8);
  CHECK(of("def f(float(M,N) A) -> (C) { C(m,n) += A(m,n) }") == 0);
  CHECK(of("def f(float(M,N) A) -> (C) { C(m,n) +=! A(m,n + k) where n in 0:5, k in 0:3 }") == 0);
  CHECK(of("def f(int8(M,N) A) -> (C) { C(m,n) = A(m,n) }") == 0);
  // Dot products have no lanes to leave out.
  const std::string pairs = "def f(bfloat16(M,K) A, bfloat16(K,N) B) -> (float(M,N) C) { C(m,n) +=! A(m,k) * B(k,n) }";
  CHECK(masked_lanes_of_last(matmul(4, 7, 9, pairs), zen4()) == 0);
  CHECK(masked_lanes_of_last(matmul(4, 7, 9, pairs), avx2()) == 0);
}

TEST_CASE("the search draws vectors longer than their loop, and all it draws is valid", "[unit]") {
  const auto program = matmul(40, 7, 32);
  const auto loops = codegen::loops_of(program, program.statements[0]);
  const Space space(program, avx2());
  Rng rng(5);
  int found = 0;
  auto schedule = space.default_schedule();
  for (int i = 0; i < 400; ++i) {
    schedule = i % 4 == 0 ? space.sample(rng).schedule : space.mutate(schedule, rng).schedule;
    REQUIRE(codegen::check(program, schedule).has_value());
    CHECK(space.adapt(schedule).schedule == schedule);
    found += codegen::has_masked_vector(loops, schedule.stages[0].nest());
  }
  CHECK(found > 10);
  CHECK(found < 300);
}

TEST_CASE("what another nest computes for a tile is no longer than its loop", "[unit]") {
  const auto program = bound(
      "def f(float(M,K) A, float(K,N) B, float(N,P) W) -> (O) { H(m,n) +=! A(m,k) * B(k,n)  O(m,p) +=! H(m,n) * "
      "W(n,p) }",
      {{"M", 64}, {"N", 16}, {"K", 32}, {"P", 7}});
  const Space space(program, avx2());
  auto schedule = space.default_schedule();
  auto alone = nest_of(matmul(64, 7, 16), avx2());
  alone.tiles = {{8}, {8}};
  alone.cpu() = {.vector_loop = 1, .lanes = 8};
  schedule.stages[1] = alone;
  auto guest = nest_of(matmul(64, 16, 32), avx2());
  guest.cpu().parallel = 0;
  guest.compute_at = codegen::ComputeAt{1, 1};
  schedule.stages[0] = guest;
  CHECK_FALSE(codegen::check(program, schedule).has_value());
  const auto adapted = space.adapt(schedule).schedule;
  REQUIRE(codegen::check(program, adapted).has_value());
  CHECK(adapted.stages[0].nest().compute_at == guest.compute_at);
  CHECK(adapted.stages[1].nest().lanes() == 4);
  // From lanes along the sum, which deterministic kernels do not have, to lanes along the columns.
  auto target = avx2();
  target.deterministic = true;
  auto& host = schedule.stages[1].nest();
  host.tiles = {{8}, {1}};
  host.cpu() = {.vector_loop = 2, .lanes = 8};
  CHECK(codegen::check(program, Space(program, target).adapt(schedule).schedule).has_value());
}

TEST_CASE("registers hold what one operand has for a step beside the sums", "[unit]") {
  const auto nest = nest_of(bound("def f(float(B,A,E) X, float(D,E,C) Y) -> (O) { O(a,c,b,d) +=! X(b,a,e) * Y(d,e,c) }",
                                  {{"A", 8}, {"B", 56}, {"C", 16}, {"D", 12}, {"E", 8}}),
                            zen4());
  CHECK(nest.vector_loop() == 3);
  const int64_t vectors = nest.tiles[1].back(), broadcasts = nest.tiles[2].back();
  CHECK(vectors > 1);
  CHECK(broadcasts > 1);
  CHECK(vectors * broadcasts + std::min(vectors, broadcasts) < 32);
}

TEST_CASE("results that are neighbours from one loop to the next are stored by whole vectors", "[unit]") {
  // Rows of 3, 56 of which lie behind each other.
  const auto nest = nest_of(bound("def f(float(B,A,E) X, float(D,E,C) Y) -> (O) { O(a,c,b,d) +=! X(b,a,e) * Y(d,e,c) }",
                                  {{"A", 8}, {"B", 56}, {"C", 16}, {"D", 3}, {"E", 8}}),
                            zen4());
  CHECK(nest.vector_loop() == 1);
  CHECK(nest.tiles[3].back() == 3);
  CHECK(nest.tiles[2].back() > 1);
}

TEST_CASE("groups whose results share lines take turns within a row", "[unit]") {
  const auto order = [](int64_t filters) {
    const auto nest =
        nest_of(bound("def f(float(N,X,G,C) I, float(G,C,F) W) -> (O) { O(n,x,g,f) +=! I(n,x,g,c) * W(g,c,f) }",
                      {{"N", 4}, {"X", 300}, {"G", 6}, {"C", 12}, {"F", filters}}),
                zen4());
    CHECK(nest.vector_loop() == 2);  // of n_x, g and f
    const auto& loops = nest.order[0];
    return std::find(loops.begin(), loops.end(), 1) - std::find(loops.begin(), loops.end(), 0);
  };
  CHECK(order(8) > 0);
  CHECK(order(32) < 0);
}

}  // namespace tile_tune::search
