// Results that are stored past the caches: the same values wherever they lie, and only where no cache holds them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>

#include "codegen/lower/compile.h"
#include "codegen/schedule/check.h"
#include "search/space/space.h"
#include "tests/property/codegen/kernel_check.h"

namespace tile_tune {
namespace {

codegen::Schedule streaming(std::vector<std::vector<int64_t>> tiles, std::vector<std::vector<int>> order,
                            int vector_loop, int lanes, int parallel = 0) {
  codegen::NestSchedule stage;
  stage.tiles = std::move(tiles);
  stage.order = std::move(order);
  stage.mapping = codegen::CpuMapping{parallel, vector_loop, lanes, true};
  return {{stage}};
}

std::vector<std::string> calls_in(const ir::Program& program, const codegen::Schedule& schedule) {
  const auto text = codegen::lowered_loops(program, schedule, test::host(2));
  REQUIRE(text.has_value());
  CAPTURE(*text);
  const std::regex expression(R"(tile_tune_(end_)?stream\([^\n]*)");
  std::vector<std::string> calls;
  for (auto i = std::sregex_iterator(text->begin(), text->end(), expression); i != std::sregex_iterator(); ++i)
    calls.push_back(i->str());
  return calls;
}

bool streams_by_default(const std::string& text, const ir::Sizes& sizes, const char* target = "x86-64-linux-avx2-fma",
                        const char* cpu_model = "a CPU") {
  auto described = *codegen::parse_target(target);
  described.l2_bytes = 1 << 20;
  described.l3_bytes = 32 << 20;
  described.threads = 2;
  described.cpu_model = cpu_model;
  const auto schedule = search::Space(test::bound_program(text, sizes), described).default_schedule();
  REQUIRE(schedule.stages.size() == 1);
  return schedule.stages[0].nest().cpu().streaming;
}

constexpr const char* kNegated = "def f(float(M,N) A) -> (O) { O(m,n) = -A(m,n) }";

}  // namespace

TEST_CASE("vectors beside each other go out at once, rows apart", "[property]") {
  const auto program = test::bound_program(kNegated, {{"M", 6}, {"N", 64}});
  const auto schedule = streaming({{2}, {16}}, {{0, 1}}, 1, 8);
  const auto calls = calls_in(program, schedule);
  REQUIRE(calls.size() == 3);  // two rows of the tile, and the end
  for (const int row : {0, 1}) CHECK_THAT(calls[row], Catch::EndsWith("(int64)16*(int64)4)"));
  CHECK(calls[2] == "tile_tune_end_stream()");
  test::KernelCheck(program, 2).expect_right(schedule);
}

TEST_CASE("parallel loops make others see what they stored: kernels do not", "[property]") {
  const auto program = test::bound_program(kNegated, {{"M", 6}, {"N", 64}});
  const auto calls = calls_in(program, streaming({{1}, {16}}, {{0, 1}}, 1, 8, 1));
  REQUIRE(calls.size() == 1);
  CHECK(calls[0].starts_with("tile_tune_stream("));
}

TEST_CASE("values are the same wherever rows begin, whatever the type", "[property]") {
  for (const char* type : {"float", "double", "int8", "int16", "bfloat16", "half"})
    for (const int64_t columns : {1, 7, 31, 64, 67, 131})
      for (const int parallel : {0, 1}) {
        CAPTURE(type, columns, parallel);
        const std::string text = "def f(" + std::string(type) + "(M,N) A, " + type +
                                 "(N) B) -> (O, P) { O(m,n) = A(m,n) - B(n)  P(n,m) = A(m,n) }";
        const auto program = test::bound_program(text, {{"M", 5}, {"N", columns}});
        auto schedule = search::Space(program, test::host(2)).default_schedule();
        for (auto& stage : schedule.stages) {
          auto& cpu = stage.nest().cpu();
          cpu.parallel = parallel;
          cpu.streaming = cpu.vector_loop >= 0;
        }
        test::KernelCheck(program, 2).expect_right(schedule);
      }
}

TEST_CASE("sums are stored past the caches when they are done", "[property]") {
  const auto program = test::bound_program("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
                                           {{"M", 13}, {"N", 53}, {"K", 29}});
  auto schedule = search::Space(program, test::host(2)).default_schedule();
  REQUIRE(schedule.stages[0].nest().cpu().vector_loop == 1);
  schedule.stages[0].nest().cpu().streaming = true;
  CHECK_FALSE(calls_in(program, schedule).empty());
  test::KernelCheck(program, 2).expect_right(schedule);
}

TEST_CASE("they are right with epilogues of another type, in place, in pieces of a sum and inside other nests",
          "[property]") {
  const std::pair<const char*, ir::Sizes> programs[] = {
      {"def f(float(M,K) A, float(K,N) B) -> (C, O) { C(m,n) +=! A(m,k) * B(k,n)  O(m,n) = int8(fmin(fmax(C(m,n), "
       "-100), "
       "100)) }",
       {{"M", 13}, {"N", 64}, {"K", 5}}},
      {"def f(float(N) X) -> (Y) { Y(i) += 3 * X(i) }", {{"N", 133}}},
      {"def f(float(M,N) A) -> (O) { O(n) +=! A(m,n) }", {{"M", 512}, {"N", 48}}},
      {"def f(float(N,M) X) -> (O) { m(n) max=! X(n,k)  e(n,k) = exp(X(n,k) - m(n))  s(n) +=! e(n,k)  O(n,k) = e(n,k) "
       "/ "
       "s(n) }",
       {{"N", 61}, {"M", 64}}}};
  for (const auto& [text, sizes] : programs) {
    CAPTURE(text);
    const auto program = test::bound_program(text, sizes);
    auto target = test::host(2);
    target.l2_bytes = 4 << 10;
    auto schedule = search::Space(program, target).default_schedule();
    for (auto& stage : schedule.stages) {
      auto* nest = stage.find_nest();
      if (!nest) continue;
      const auto loops = static_cast<int>(nest->tiles.size());
      nest->cpu().streaming = nest->cpu().vector_loop >= 0 && nest->cpu().vector_loop < loops;
    }
    test::KernelCheck(program, target).expect_right(schedule);
  }
}

TEST_CASE("results that are not stored in vectors, and other CPUs, are refused", "[property]") {
  const auto target = test::host(1);
  const auto program = test::bound_program("def f(float(M,N) A) -> (O) { O(m) +=! A(m,n) }", {{"M", 7}, {"N", 48}});
  auto schedule = search::Space(program, target).default_schedule();
  auto& nest = schedule.stages[0].nest();
  nest.cpu() = {0, 1, 8, false};
  CHECK(codegen::check(program, schedule).has_value());
  nest.cpu().streaming = true;
  CHECK_FALSE(codegen::check(program, schedule).has_value());
  const auto negated = test::bound_program(kNegated, {{"M", 6}, {"N", 64}});
  const auto streamed = streaming({{1}, {8}}, {{0, 1}}, 1, 4);
  CHECK(codegen::check_for(*codegen::parse_target("x86-64-linux"), negated, streamed).has_value());
  const auto refused = codegen::check_for(*codegen::parse_target("arm-64-linux"), negated, streamed);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().message.find("only on x86-64") != std::string::npos);
  // What fits the second cache is taken back.
  CHECK_FALSE(search::Space(negated, target).adapt(streamed).schedule.stages[0].nest().cpu().streaming);
}

TEST_CASE("by default they leave the caches out where a call outgrows them and lines are written whole", "[property]") {
  CHECK(streams_by_default(kNegated, {{"M", 4096}, {"N", 4096}}));
  CHECK(streams_by_default(kNegated, {{"M", 1281}, {"N", 4096}}));
  CHECK_FALSE(streams_by_default(kNegated, {{"M", 1024}, {"N", 4096}}));  // 32 MiB, which the cache holds
  // Rows that begin anywhere, and a line at a time, unless all are one row.
  const char* const added = "def f(float(M,N) A, float(N) b) -> (O) { O(m,n) = A(m,n) - b(n) }";
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>{4096, 4099}, {1 << 20, 16}}) {
    CHECK(streams_by_default(kNegated, {{"M", rows}, {"N", columns}}));
    CHECK_FALSE(streams_by_default(added, {{"M", rows}, {"N", columns}}));
  }
  CHECK_FALSE(streams_by_default(kNegated, {{"M", 4096}, {"N", 4096}}, "arm-64-linux"));
  CHECK_FALSE(streams_by_default(kNegated, {{"M", 4096}, {"N", 4096}}, "x86-64-linux-avx2-fma", ""));
  CHECK_FALSE(streams_by_default("def f(float(M,N) A) -> (O) { O(n,m) = A(m,n) }", {{"M", 4096}, {"N", 4096}}));
}

TEST_CASE("streaming survives its JSON form, and is left out where it is off", "[property]") {
  auto schedule = streaming({{1}, {8}}, {{0, 1}}, 1, 8);
  const auto json = codegen::to_json(schedule);
  CHECK(json["stages"][0]["streaming"] == true);
  const auto read = codegen::schedule_from_json(json);
  REQUIRE(read.has_value());
  CHECK(*read == schedule);
  schedule.stages[0].nest().cpu().streaming = false;
  CHECK_FALSE(codegen::to_json(schedule)["stages"][0].contains("streaming"));
}

}  // namespace tile_tune
