#include "search/predict/features.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "search/space/space.h"
#include "tests/unit/predict/programs.h"

namespace tile_tune::predict {
namespace {

const char* const kChain = R"(def f(float(M,K) A, float(K,N) B, float(N) C) -> (O) {
  T(m,n) +=! A(m,k) * B(k,n)
  O(m,n) = fmax(T(m,n) + C(n), 0)
})";

size_t column(const std::string& name) {
  const auto names = feature_names();
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

TEST_CASE("rows have a name for every column, whatever the program") {
  const auto names = feature_names();
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
  search::Rng rng(5);
  const std::vector<ir::Program> programs{
      matmul(64, 48, 32),
      matmul(7, 1, 3),
      matmul(4, 0, 3),
      program_of(kChain, {{"M", 40}, {"N", 33}, {"K", 17}}),
      program_of("def f(float(H,W) I) -> (O) { O(h,w) max=! I(h + i, w + j) where i in 0:3, j in 0:3 }",
                 {{"H", 30}, {"W", 41}}),
      program_of("def f(float(N,D) T, int32(B) I) -> (O) { O(b,d) = T(I(b),d) }", {{"N", 9}, {"D", 33}, {"B", 5}})};
  for (const auto& program : programs) {
    const search::Space space(program, machine());
    const Features features(program, machine());
    for (int i = 0; i < 50; ++i) {
      const auto row = features.row(i == 0 ? space.default_schedule() : space.sample(rng).schedule);
      REQUIRE(row.size() == names.size());
      for (size_t c = 0; c < row.size(); ++c) {
        INFO(names[c]);
        CHECK_FALSE(std::isinf(row[c]));
        // A program of one statement has no others.
        CHECK((std::isnan(row[c]) == (program.statements.size() == 1 && names[c].starts_with("rest_")) ||
               program.statements.size() > 1));
      }
    }
  }
}

TEST_CASE("the heaviest stage comes first, the others in the mean, those without a nest of their own as a count") {
  const auto program = program_of(kChain, {{"M", 64}, {"N", 48}, {"K", 32}});
  const search::Space space(program, machine());
  const Features features(program, machine());
  // The default runs the second statement as the epilogue of the first.
  auto row = features.row(space.default_schedule());
  CHECK(row[column("stages")] == 1);
  CHECK(row[column("inlined")] == 1);
  CHECK(std::isnan(row[column("rest_reduction")]));
  search::Rng rng(1);
  auto apart = space.sample(rng).schedule;
  const auto alone = [](const codegen::StageSchedule& stage) {
    return stage.find_nest() && !stage.compute_at() && !stage.nest().parallel_reduction;
  };
  while (!std::all_of(apart.stages.begin(), apart.stages.end(), alone)) apart = space.sample(rng).schedule;
  row = features.row(apart);
  CHECK(row[column("main_reduction")] == Approx(std::log2(33)));
  CHECK(row[column("rest_reduction")] == Approx(1));  // log2(1 + 1)
  CHECK(row[column("stages")] == 2);
  CHECK(row[column("inlined")] == 0);
  CHECK(row[column("main_share")] == Approx(32 / 33.0));
}

TEST_CASE("different schedules have different rows") {
  const auto program = matmul(512, 512, 512);
  const search::Space space(program, machine());
  const Features features(program, machine());
  search::Rng rng(1);
  std::set<std::vector<float>> rows;
  std::set<codegen::Schedule> schedules;
  for (int i = 0; i < 500; ++i) {
    const auto schedule = space.sample(rng).schedule;
    if (schedules.insert(schedule).second) {
      auto row = features.row(schedule);
      for (float& value : row) value = std::isnan(value) ? -1 : value;
      rows.insert(row);
    }
  }
  CHECK(rows.size() > schedules.size() * 9 / 10);
}

TEST_CASE("what is hopeless on paper, and what is not") {
  const auto program = matmul(512, 512, 512);
  const search::Space space(program, machine());
  const Features features(program, machine());
  const auto good = space.default_schedule();
  CHECK(features.hopeless(good) == std::nullopt);
  const auto reason = [&](auto change) {
    auto schedule = good;
    change(schedule.stages[0].nest());
    return features.hopeless(schedule).value_or("");
  };
  using Stage = codegen::NestSchedule;
  CHECK(reason([](Stage& s) { s.cpu().parallel = 0; }) == "it runs on one thread");
  CHECK(reason([](Stage& s) {
          s.tiles = {{14}, {96}};
          s.order = {{0, 1}};
          s.packings.clear();
        }) == "it keeps far more sums than there are registers");
  CHECK(reason([](Stage& s) {
          s.cpu().vector_loop = -1;
          s.cpu().lanes = 1;
          s.tiles = {{2}, {2}};
          s.order = {{0, 1}};
          s.packings.clear();
        }) == "it uses no vectors");
  CHECK(reason([](Stage& s) {
          s.tiles = {{200, 4}, {32, 32}};
          s.order = {{0, 1}, {0, 1}};
          s.packings.clear();
        }) == "");
  // On one thread nothing waits for another.
  auto alone = good;
  alone.stages[0].nest().cpu().parallel = 0;
  CHECK(Features(program, machine(1)).hopeless(alone) == std::nullopt);
  // Where there is little to do nothing is worth a word.
  const auto tiny = matmul(4, 5, 6);
  CHECK(Features(tiny, machine()).hopeless(search::Space(tiny, machine()).default_schedule()) == std::nullopt);
}

}  // namespace tile_tune::predict
