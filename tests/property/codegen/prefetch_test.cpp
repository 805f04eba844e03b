// Vectors asked for ahead of their use: where the right places are asked for, and nowhere else.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "codegen/lower/compile.h"
#include "codegen/schedule/check.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

using codegen::Prefetch;
using codegen::Schedule;

codegen::NestSchedule plain(std::vector<std::vector<int64_t>> tiles, std::vector<std::vector<int>> order,
                            int vector_loop, int lanes) {
  codegen::NestSchedule stage;
  stage.tiles = std::move(tiles);
  stage.order = std::move(order);
  stage.cpu().vector_loop = vector_loop;
  stage.cpu().lanes = lanes;
  return stage;
}

size_t count(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  return static_cast<size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), expression), std::sregex_iterator()));
}

}  // namespace

TEST_CASE("a load asks for the vector of a later row, once for all that read it", "[property]") {
  const auto target = test::host(1);
  // A row of A is 37 elements; five rows on lie 185. Each vector of A is read by two rows of the register tile.
  const auto program = test::bound_program("def f(float(M,N) A, float(M,K) B) -> (O) { O(k,m,n) = A(m,n) - B(m,k) }",
                                           {{"M", 7}, {"N", 37}, {"K", 4}});
  Schedule schedule{{plain({{2}, {1}, {8}}, {{0, 1, 2}}, 2, 8)}};
  const auto without = codegen::lowered_loops(program, schedule, target);
  REQUIRE(without.has_value());
  CHECK(count(*without, "prefetch") == 0);
  schedule.stages[0].nest().prefetches = {{0, 1, 5}};
  const auto with = codegen::lowered_loops(program, schedule, target);
  REQUIRE(with.has_value());
  CAPTURE(*with);
  // The last vector of a row is moved back to begin at its element 29.
  CHECK(count(*with, R"(prefetch\(tensor0, [^\n]* \+ 185, 1, 1\))") == 1);
  CHECK(count(*with, R"(prefetch\(tensor0, [^\n]* \+ 214, 1, 1\))") == 1);
  CHECK(count(*with, "prefetch") == 2);
  test::KernelCheck(program, target).expect_right(schedule);
}

TEST_CASE("vectors longer than a line ask for every line", "[property]") {
  const auto target = test::host(1);
  const auto program = test::bound_program("def f(double(M,N) A) -> (O) { O(m,n) = -A(m,n) }", {{"M", 3}, {"N", 64}});
  Schedule schedule{{plain({{1}, {16}}, {{0, 1}}, 1, 16)}};
  schedule.stages[0].nest().prefetches = {{0, 0, 1}};
  const auto text = codegen::lowered_loops(program, schedule, target);
  REQUIRE(text.has_value());
  CAPTURE(*text);
  CHECK(count(*text, R"(prefetch\(tensor0, [^\n]*64, 1, 1\))") == 1);
  CHECK(count(*text, R"(prefetch\(tensor0, [^\n]*72, 1, 1\))") == 1);
}

TEST_CASE("a sum asks ahead along its reduction, at its operand only", "[property]") {
  const auto target = test::host(1);
  const auto program = test::bound_program("def f(float(K,N) A, float(K,N) B) -> (O) { O(n) +=! A(k,n) * B(k,n) }",
                                           {{"K", 31}, {"N", 40}});
  auto stage = plain({{8}}, {{0}}, 0, 8);
  stage.reduction_order = {0};
  stage.reduction_block = {31};
  stage.reduction_unroll = {1};
  stage.prefetches = {{1, 1, 4}};
  const Schedule schedule{{stage}};
  const auto text = codegen::lowered_loops(program, schedule, target);
  REQUIRE(text.has_value());
  CAPTURE(*text);
  CHECK(count(*text, "prefetch") == 1);
  CHECK(count(*text, R"(prefetch\(tensor1, [^\n]*160[^\n]*, 1, 1\))") == 1);
  test::KernelCheck(program, target).expect_right(schedule);
}

TEST_CASE("what cannot be asked for is refused, and repaired away", "[property]") {
  const auto program =
      test::bound_program("def f(float(M,N) A, float(N) B) -> (O) { O(m,n) = A(m,n) + B(n) }", {{"M", 7}, {"N", 48}});
  Schedule schedule{{plain({{1}, {16}}, {{0, 1}}, 1, 16)}};
  const auto allowed = [&](std::vector<Prefetch> prefetches) {
    schedule.stages[0].nest().prefetches = std::move(prefetches);
    const bool valid = codegen::check(program, schedule).has_value();
    const auto repaired = search::Space(program, test::host(1)).adapt(schedule).schedule;
    CHECK(codegen::check(program, repaired).has_value());
    CHECK(repaired.stages[0].nest().prefetches.empty() != valid);
    return valid;
  };
  CHECK(allowed({{0, 0, 1}}));
  CHECK(allowed({{0, 1, 16}}));
  CHECK(allowed({{0, 0, 64}}));
  CHECK_FALSE(allowed({{0, 0, 65}}));
  CHECK_FALSE(allowed({{0, 0, 0}}));
  CHECK_FALSE(allowed({{0, 0, -1}}));
  CHECK_FALSE(allowed({{0, 1, 15}}));  // in the same line
  CHECK_FALSE(allowed({{1, 0, 1}}));   // B is the same in all rows
  CHECK_FALSE(allowed({{2, 0, 1}}));
  CHECK_FALSE(allowed({{-1, 0, 1}}));
  CHECK_FALSE(allowed({{0, 2, 1}}));
  CHECK_FALSE(allowed({{0, -1, 1}}));
  schedule.stages[0].nest().packings = {{0, 0, {1, 0}}};
  CHECK_FALSE(allowed({{0, 0, 1}}));
  schedule.stages[0].nest().packings.clear();
  schedule.stages[0].nest().prefetches = {{0, 0, 1}, {0, 0, 2}};
  CHECK_FALSE(codegen::check(program, schedule).has_value());
}

TEST_CASE("rows of a softmax ask for the next ones", "[property]") {
  auto target = test::host(1);
  target.l2_bytes = 4 << 10;
  const auto program = test::bound_program(
      "def f(float(N,M) X) -> (O) { m(n) max=! X(n,k)  e(n,k) = exp(X(n,k) - m(n))  s(n) +=! e(n,k)  O(n,k) = e(n,k) "
      "/ s(n) }",
      {{"N", 61}, {"M", 129}});
  const auto schedule = search::Space(program, target).default_schedule();
  std::multiset<int> asking;
  for (size_t s = 0; s < schedule.stages.size(); ++s)
    for (const auto& one : schedule.stages[s].nest().prefetches) {
      asking.insert(static_cast<int>(s));
      CHECK(one.loop == 0);
    }
  CHECK(asking == std::multiset<int>{1});
  test::KernelCheck(program, target).expect_right(schedule);
}

TEST_CASE("prefetches survive their JSON form, and are moved with their loop", "[property]") {
  Schedule schedule{{plain({{1}, {16}}, {{0, 1}}, 1, 16)}};
  const auto before = codegen::to_json(schedule);
  CHECK_FALSE(before["stages"][0].contains("prefetches"));
  schedule.stages[0].nest().prefetches = {{0, 0, 2}};
  auto json = codegen::to_json(schedule);
  CHECK(*codegen::schedule_from_json(json) == schedule);
  json["stages"][0]["prefetches"][0]["distance"] = 1.5;
  CHECK_FALSE(codegen::schedule_from_json(json).has_value());
  // One of a batch of matrices: loop 0 becomes loop 1.
  const auto from =
      test::bound_program("def f(float(M,N) A) -> (O) { O(m,n) = A(m,n) + A(m,n) }", {{"M", 7}, {"N", 48}});
  const auto to = test::bound_program("def f(float(B,M,N) A) -> (O) { O(b,m,n) = A(b,m,n) + A(b,m,n) }",
                                      {{"B", 3}, {"M", 7}, {"N", 48}});
  const auto moved = search::Space(to, test::host(1)).transfer(from, schedule);
  for (const auto& one : moved) CHECK(one.stages[0].nest().prefetches == std::vector<Prefetch>{{0, 1, 2}});
}

}  // namespace tile_tune
