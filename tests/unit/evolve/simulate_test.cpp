// Recorded spaces, and the strategies compared on them (decision 21). A space is added by putting its JSON into
// recordings/.
#include "search/evolve/simulate.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "frontend/ir/json.h"
#include "search/space/space.h"

namespace tile_tune::search {
namespace {

constexpr int kSeeds = 20;
constexpr int kTrialsReplayed = 300;

template <typename T>
T value(Result<T> result) {
  INFO((result ? "" : render(result.error())));
  REQUIRE(result);
  return std::move(*result);
}

codegen::Target target_of(const nlohmann::json& json) {
  codegen::Target target = value(codegen::parse_target(json.at("halide").get<std::string>()));
  target.vector_bytes = json.at("vector_bytes");
  target.vector_registers = json.at("vector_registers");
  target.threads = json.at("threads");
  target.l1_bytes = json.at("l1_bytes");
  target.l2_bytes = json.at("l2_bytes");
  target.l3_bytes = json.at("l3_bytes");
  return target;
}

codegen::Schedule schedule_of(const nlohmann::json& stages) {
  if (stages.is_object()) return value(codegen::schedule_from_json(stages));
  return value(codegen::schedule_from_json(
      {{"kind", "schedule"}, {"version", codegen::Schedule::kVersion}, {"stages", stages}}));
}

Recording load(const std::filesystem::path& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file);
  std::vector<RecordedTrial> trials;
  for (const auto& trial : json.at("trials"))
    trials.push_back({schedule_of(trial.at(3)), trial.at(0), *parse_outcome(trial.at(1)), trial.at(2)});
  return value(Recording::make(value(ir::program_from_json(json.at("program"))), target_of(json.at("target")), trials));
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(TILE_TUNE_SOURCE_DIR "/tests/unit/evolve/recordings"))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE_FALSE(files.empty());
  return files;
}

/// A sum over 1000 elements in 1, 2, ... lanes and unrolled; the first is the default.
struct Small {
  ir::Program program;
  codegen::Target target;
  std::vector<codegen::Schedule> schedules;

  Small() {
    program.tensors = {{"A", DType::F32, {1000}, ir::Role::Input}, {"s", DType::F32, {}, ir::Role::Output}};
    program.inputs = {0};
    program.outputs = {1};
    ir::Statement sum;
    sum.target = 1;
    sum.indices = {{"i", 0, 1000, ""}};
    sum.op = ir::Aggregation::Sum;
    sum.value = ir::make_expr(DType::F32, ir::Read{0, {ir::AffineExpr::index(0)}});
    program.statements = {sum};
    const Space space(program, target);
    schedules.push_back(space.default_schedule());
    for (int unroll : {1, 2, 4, 5, 8}) {
      auto schedule = schedules.front();
      schedule.stages[0].nest().reduction_unroll = {unroll};
      if (schedule != schedules.front()) schedules.push_back(schedule);
    }
  }
};

}  // namespace

TEST_CASE("a recording is the median of what was measured of each schedule") {
  const Small small;
  const auto& s = small.schedules;
  auto recording = value(Recording::make(small.program, small.target,
                                         {{s[0], "default", Outcome::Ok, 1},
                                          {s[1], "random", Outcome::Ok, 1.2},
                                          {s[1], "mutation", Outcome::Ok, 1.4},
                                          {s[1], "prior", Outcome::Slow, 1.3},
                                          {s[2], "model", Outcome::Crash, 0},
                                          {s[3], "random", Outcome::Timeout, 0}}));
  CHECK(recording.size() == 3);
  CHECK(recording.best_ratio() == 1.3);
  const auto measured = recording.measure({s[1], s[2], s[0]}, s[0], Deadline());
  CHECK(measured[0].ratio == 1.3);
  CHECK(measured[0].outcome == Outcome::Ok);
  CHECK(measured[1].outcome == Outcome::Crash);
  CHECK(measured[2].ratio == 1);

  const Moves moves = recording.moves();
  Rng rng(1);
  CHECK(moves.default_schedule() == s[0]);
  CHECK(moves.alternatives() == std::vector{s[2]});
  for (int i = 0; i < 20; ++i) {
    CHECK(moves.sample(rng).schedule == s[1]);  // the only one drawn at random
    CHECK(moves.mutate(s[1], rng).schedule != s[1]);
    CHECK(moves.crossover(s[0], s[1], rng).schedule == s[2]);  // the only other
  }
}

TEST_CASE("mutations stay near: fewer decisions changed, more often reached") {
  auto recording = load(files().front());
  const Moves moves = recording.moves();
  Rng rng(3);
  const auto parent = moves.sample(rng).schedule;
  std::map<codegen::Schedule, int> reached;
  for (int i = 0; i < 2000; ++i) ++reached[moves.mutate(parent, rng).schedule];
  CHECK(reached.size() <= 32);
  CHECK(reached.size() > 16);
  CHECK(reached.count(parent) == 0);
}

TEST_CASE("nothing to search in is an error that says so") {
  const Small small;
  const auto code = [&](const std::vector<RecordedTrial>& trials) {
    const auto recording = Recording::make(small.program, small.target, trials);
    return recording ? "" : recording.error().code;
  };
  CHECK(code({}) == "bad-recording");
  CHECK(code({{small.schedules[1], "random", Outcome::Ok, 2}}) == "bad-recording");
  CHECK(code({{small.schedules[0], "default", Outcome::Crash, 0}}) == "bad-recording");
  CHECK(code({{small.schedules[0], "default", Outcome::Ok, 1}}).empty());
}

TEST_CASE("a replay tells the trials to 90 and 95 %, and repeats itself") {
  const Small small;
  std::vector<RecordedTrial> trials{{small.schedules[0], "default", Outcome::Ok, 1}};
  for (size_t i = 1; i < small.schedules.size(); ++i)
    trials.push_back({small.schedules[i], "random", Outcome::Ok, i == 1 ? 1.85 : i == 2 ? 2.0 : 0.5});
  auto recording = value(Recording::make(small.program, small.target, trials));
  const auto replayed = value(replay(recording, Strategy::Random, 9, 50));
  CHECK(replayed.size == static_cast<int>(trials.size()));
  CHECK(replayed.best_ratio == 2);
  CHECK(replayed.reached_90 == 9);
  CHECK(replayed.reached_95 == 9);
  CHECK(replayed.to_90 >= 2);
  CHECK(replayed.to_90 <= replayed.to_95);
  CHECK(replayed.to_95 <= static_cast<double>(trials.size()));
  CHECK(value(replay(recording, Strategy::Random, 9, 50)).to_95 == replayed.to_95);
  const auto cut = value(replay(recording, Strategy::Random, 9, 1));
  CHECK(cut.reached_90 == 0);
  CHECK(cut.to_90 == 2);  // one more than there was
}

TEST_CASE("the model needs at most half of the genetic search's trials to 90 % of the best") {
  for (const auto& file : files()) {
    auto recording = load(file);
    const auto model = value(replay(recording, Strategy::Model, kSeeds, kTrialsReplayed));
    const auto genetic = value(replay(recording, Strategy::Genetic, kSeeds, kTrialsReplayed));
    INFO(file.stem().string() << ": " << recording.size() << " schedules, best " << recording.best_ratio() << ", model "
                              << model.to_90 << ", genetic " << genetic.to_90);
    CHECK(model.reached_90 == kSeeds);
    CHECK(model.to_90 <= genetic.to_90 / 2);
    CHECK(model.quality.pairs > 0);
  }
}

}  // namespace tile_tune::search
