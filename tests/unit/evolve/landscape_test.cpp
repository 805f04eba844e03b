// On a recorded landscape, the median number of trials to 95 % of the best over 20 seeds is at most two
// thirds of random search's. A landscape is added by putting its JSON into landscapes/.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/unit/evolve/fakes.h"

namespace tile_tune::search {
namespace {

constexpr int kRuns = 20;
constexpr int kMostTrials = 2000;

/// Trials until one reaches 95 % of the best speed there is; kMostTrials if none does.
int trials_to_95(const Landscape& landscape, Strategy strategy, uint64_t seed) {
  Session session(landscape);
  session.options = {.seed = seed, .budget = {.trials = kMostTrials}, .strategy = strategy};
  const double goal = landscape.best_ns() / 0.95;
  bool reached = false;
  session.measurer.after_batch = [&] {
    for (const auto& schedule : session.measurer.batches.back()) {
      const double time = landscape.time(schedule);
      reached |= time > 0 && time <= goal;
    }
    session.stop = reached;
  };
  REQUIRE(session.run());
  int count = 0;
  for (const Trial& trial : session.sink.trials) {
    ++count;
    if (trial.measurement.outcome == Outcome::Ok && trial.measurement.median_ns <= goal) return count;
  }
  return kMostTrials;
}

double median_trials(const Landscape& landscape, Strategy strategy) {
  std::vector<int> trials;
  for (int seed = 1; seed <= kRuns; ++seed) trials.push_back(trials_to_95(landscape, strategy, seed));
  std::sort(trials.begin(), trials.end());
  return (trials[kRuns / 2 - 1] + trials[kRuns / 2]) / 2.0;
}

std::vector<Landscape> landscapes() {
  std::vector<Landscape> all{synthetic_matmul()};
  const std::filesystem::path folder = TILE_TUNE_SOURCE_DIR "/tests/unit/evolve/landscapes";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") {
      std::ifstream file(entry.path());
      all.push_back(landscape_from_json(nlohmann::json::parse(file)));
    }
  return all;
}

}  // namespace

TEST_CASE("evolution needs at most two thirds of random search's trials") {
  for (const Landscape& landscape : landscapes()) {
    const double evolution = median_trials(landscape, Strategy::Genetic);
    const double random = median_trials(landscape, Strategy::Random);
    INFO(landscape.name << ": " << landscape.members.size() << " members, evolution " << evolution << ", random "
                        << random);
    CHECK(random > 30);  // else the landscape tells nothing
    CHECK(evolution <= random * 2 / 3);
  }
}

TEST_CASE("the synthetic landscape is no toy") {
  const Landscape landscape = synthetic_matmul();
  CHECK(landscape.members.size() >= 10000);
  const auto faults = std::count_if(landscape.time_ns.begin(), landscape.time_ns.end(),
                                    [](const auto& entry) { return entry.second == 0; });
  CHECK(faults > static_cast<long>(landscape.members.size() / 100));
  CHECK(landscape.default_ns() > 1.5 * landscape.best_ns());
}

TEST_CASE("a recorded landscape: points that are missing are not legal, null is a fault") {
  const auto landscape = landscape_from_json(nlohmann::json::parse(R"({
      "name": "tiny", "genes": [{"name": "rows", "values": [1, 2, 4]}, {"name": "packed", "values": ["no", "yes"]}],
      "default": [0, 1], "points": [[0, 1, 90.5], [1, 0, null], [1, 1, 30], [2, 1, 45]]})"));
  CHECK(landscape.sizes == std::vector{3, 2});
  CHECK(landscape.members.size() == 4);
  CHECK(landscape.default_ns() == 90.5);
  CHECK(landscape.best_ns() == 30);
  CHECK(landscape.time(schedule_of({1, 0})) == 0);
  Session session(landscape);
  session.options = {.seed = 1, .budget = {}};
  const auto report = session.run();
  REQUIRE(report);
  CHECK(report->trials == 4);
  CHECK(report->outcomes.at(Outcome::CompileError) == 1);
  CHECK(genome_of(report->winner->schedule) == Genome{1, 1});
}

}  // namespace tile_tune::search
