// The loop: what is tried in which order, what is repeated, what ends it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/unit/evolve/fakes.h"

namespace tile_tune::search {
namespace {

/// A space of `count` members in one gene; member i takes 100 - i ns, the default is member 0.
Landscape row(int count) {
  Landscape landscape{.name = "row", .sizes = {count}, .default_member = {0}};
  for (int i = 0; i < count; ++i) {
    landscape.members.push_back({i});
    landscape.time_ns[key_of(schedule_of({i}))] = 100 - i;
  }
  return landscape;
}

std::vector<std::string> first(std::vector<std::string> keys, size_t count) {
  keys.resize(count);
  return keys;
}

}  // namespace

TEST_CASE("the default is tried first, alone, then seeds, then offspring") {
  Session session(matmul());
  session.options = {.seed = 3, .budget = {.trials = 40}, .strategy = Strategy::Genetic};
  const auto report = session.run();
  REQUIRE(report);
  REQUIRE(session.measurer.batches.size() > 4);
  CHECK(session.measurer.batches[0] == std::vector{schedule_of(matmul().default_member)});
  CHECK(session.measurer.batches[1].size() == 4);
  const auto& trials = session.sink.trials;
  CHECK(trials[0].origin == "default");
  std::map<std::string, int> bred;
  for (size_t i = 0; i < 40; ++i) {
    CHECK(trials[i].sequence == static_cast<int>(i));
    if (i >= 1 && i <= 8) {
      CHECK(trials[i].origin == "random");
      CHECK(trials[i].generation == 0);
    }
    if (i > 8) {
      CHECK(trials[i].generation == static_cast<int>((i - 9) / 4 + 1));
      ++bred[trials[i].origin];
      const size_t parents = trials[i].origin == "mutation" ? 1 : trials[i].origin == "crossover" ? 2 : 0;
      CHECK(trials[i].parents.size() == parents);
    }
  }
  CHECK(bred["mutation"] > bred["crossover"]);
  CHECK(bred["crossover"] > 0);
  CHECK(report->generations == 8);
}

TEST_CASE("a batch keeps all cores busy twice") {
  Session session(matmul());
  session.options = {.seed = 3, .budget = {.trials = 40}, .cores = 5};
  REQUIRE(session.run());
  CHECK(session.measurer.batches.at(3).size() == 10);
}

TEST_CASE("the stored best is tried with the default, other priors before random seeds") {
  Session session(matmul());
  session.options = {.seed = 3, .budget = {.trials = 20}, .strategy = Strategy::Genetic};
  const auto prior = [](int rows) { return schedule_of({rows, 1, 1, 1, 2, 0, 0, 1, 1}); };
  session.priors.best = prior(3);
  session.priors.seeds = {prior(4), prior(3), prior(5), prior(4)};
  REQUIRE(session.run());
  CHECK(session.measurer.batches[0] == std::vector{schedule_of(matmul().default_member), prior(3)});
  const auto& trials = session.sink.trials;
  CHECK(trials[1].origin == "prior");
  CHECK(trials[2].schedule == prior(4));
  CHECK(trials[3].schedule == prior(5));
  CHECK(trials[3].origin == "prior");
  const auto random_seeds = std::count_if(trials.begin(), trials.end(), [](const Trial& trial) {
    return trial.generation == 0 && trial.origin == "random";
  });
  CHECK(random_seeds == 6);
}

TEST_CASE("no schedule is tried twice, and none that failed before") {
  const Landscape landscape = row(60);
  Session session(landscape);
  session.options = {.seed = 5, .budget = {}};
  for (int i = 40; i < 60; ++i) session.priors.faulty.push_back(key_of(schedule_of({i})));
  session.priors.seeds = {schedule_of({45}), schedule_of({7})};
  const auto report = session.run();
  REQUIRE(report);
  std::set<std::string> seen;
  for (const Trial& trial : searched(session.sink.trials)) {
    CHECK(seen.insert(key_of(trial.schedule)).second);
    CHECK(genome_of(trial.schedule)[0] < 40);
  }
  CHECK(seen.size() == 40);
  CHECK(report->stop_reason == StopReason::Exhausted);
}

TEST_CASE("the best stays: it is the incumbent of every batch and a parent of what follows") {
  Session session(matmul());
  session.options = {.seed = 11, .budget = {.trials = 120}};
  const auto report = session.run();
  REQUIRE(report);
  double best_ns = matmul().default_ns();
  for (size_t i = 0; i < session.measurer.batches.size(); ++i) {
    CHECK(matmul().time(session.measurer.incumbents[i]) == best_ns);
    for (const auto& schedule : session.measurer.batches[i])
      if (const double time = matmul().time(schedule); time > 0) best_ns = std::min(best_ns, time);
  }
  REQUIRE(report->incumbent);
  CHECK(matmul().time(*report->incumbent) == best_ns);
  for (size_t i = 1; i < report->history.size(); ++i)
    CHECK(report->history[i].best_ratio >= report->history[i - 1].best_ratio);

  // Parents come from the sixteen best of all measured before, at the widest.
  const auto trials = searched(session.sink.trials);
  for (size_t i = 9; i < trials.size(); ++i) {
    std::vector<std::pair<double, std::string>> ranked;
    for (size_t j = 0; j < i; ++j)
      if (trials[j].measurement.outcome == Outcome::Ok && trials[j].generation < trials[i].generation)
        ranked.emplace_back(trials[j].measurement.median_ns, key_of(trials[j].schedule));
    std::sort(ranked.begin(), ranked.end());
    ranked.resize(std::min<size_t>(ranked.size(), 16));
    for (const auto& parent : trials[i].parents)
      CHECK(std::any_of(ranked.begin(), ranked.end(), [&](const auto& entry) { return entry.second == parent; }));
  }
}

TEST_CASE("the same seed and measurements give the same trials, whatever the clock does") {
  const auto keys = [](uint64_t seed, double seconds_each) {
    Session session(matmul());
    session.options = {.seed = seed, .budget = {.trials = 100}};
    session.measurer.seconds_each = seconds_each;
    REQUIRE(session.run());
    return session.sink.keys();
  };
  CHECK(keys(1, 0) == keys(1, 2.5));
  CHECK(keys(1, 0) != keys(2, 0));
}

TEST_CASE("a time budget cuts the sequence of trials and changes nothing else") {
  Session by_trials(matmul()), by_time(matmul());
  by_trials.options = {.seed = 4, .budget = {.trials = 200}};
  by_time.options = {.seed = 4, .budget = {.seconds = 40}};
  by_time.measurer.seconds_each = 0.5;
  by_time.measurer.first_batch_extra = 5;
  by_time.measurer.finals_take = 2.5;
  const auto report = by_time.run();
  REQUIRE(report);
  REQUIRE(by_trials.run());
  CHECK(report->stop_reason == StopReason::Time);
  const auto keys = first(by_time.sink.keys(), searched(by_time.sink.trials).size());
  CHECK(keys == first(by_trials.sink.keys(), keys.size()));
  // 5 s once, 2.5 s for the finals: 65 candidates fit into 40 s; the estimate may miss by one.
  CHECK(report->seconds.total <= 40);
  CHECK(keys.size() >= 63);
  CHECK(keys.size() <= 65);
  CHECK(report->seconds.measuring == Approx(5 + 0.5 * keys.size()));
  CHECK(report->seconds.finals == Approx(2.5));
  CHECK(report->seconds.searching() == Approx(0).margin(1e-9));  // on a clock that only measuring moves
}

TEST_CASE("a trial budget is kept to the trial") {
  for (int trials : {1, 2, 4, 7, 9, 50}) {
    Session session(matmul());
    session.options = {.seed = 8, .budget = {.trials = trials}};
    const auto report = session.run();
    REQUIRE(report);
    CHECK(report->trials == trials);
    CHECK(searched(session.sink.trials).size() == static_cast<size_t>(trials));
    CHECK(report->stop_reason == StopReason::Trials);
    CHECK(report->winner);
  }
}

TEST_CASE("of two budgets the one spent first ends the search") {
  Session session(matmul());
  session.options = {.seed = 8, .budget = {.trials = 1000, .seconds = 30}};
  session.measurer.seconds_each = 1;
  CHECK(session.run()->stop_reason == StopReason::Time);
  session.options.budget = {.trials = 10, .seconds = 300};
  CHECK(session.run()->stop_reason == StopReason::Trials);
}

TEST_CASE("an exhausted space ends the search with every schedule tried once") {
  for (int count : {1, 2, 3, 9, 37}) {
    const Landscape landscape = row(count);
    Session session(landscape);
    session.options = {.seed = 21, .budget = {.trials = 500}};
    const auto report = session.run();
    REQUIRE(report);
    CHECK(report->stop_reason == StopReason::Exhausted);
    CHECK(report->trials == count);
    REQUIRE(report->winner);
    CHECK(genome_of(report->winner->schedule)[0] == (count < 3 ? 0 : count - 1));  // 1 % faster is within the interval
  }
}

TEST_CASE("faults are counted and bred from never; all failing ends with the budget") {
  Landscape landscape = row(90);
  for (int i = 1; i < 90; ++i) landscape.time_ns[key_of(schedule_of({i}))] = 0;
  Session session(landscape);
  session.options = {.seed = 2, .budget = {.trials = 50}};
  const auto report = session.run();
  REQUIRE(report);
  CHECK(report->outcomes == std::map<Outcome, int>{{Outcome::Ok, 1}, {Outcome::CompileError, 49}});
  for (const Trial& trial : session.sink.trials)
    for (const auto& parent : trial.parents) CHECK(parent == key_of(schedule_of({0})));
  REQUIRE(report->winner);
  CHECK(report->winner->standing == Standing::Default);
  CHECK(session.measurer.finalists.empty());
}

TEST_CASE("a default that does not verify ends the search at once, and says so") {
  Landscape landscape = row(9);
  landscape.time_ns[key_of(schedule_of({0}))] = 0;
  Session session(landscape);
  session.options = {.seed = 2, .budget = {.trials = 50}};
  const auto report = session.run();
  REQUIRE(report);
  CHECK(report->stop_reason == StopReason::DefaultFailed);
  CHECK(report->default_measurement.reason == "the compiler gave up");
  CHECK_FALSE(report->winner);
  CHECK_FALSE(report->incumbent);
  CHECK(session.sink.trials.size() == 1);
  CHECK(session.measurer.finalists.empty());
}

TEST_CASE("the stop flag ends the search after the batch, without finals, with everything kept") {
  Session session(matmul());
  session.options = {.seed = 6, .budget = {.trials = 500}, .strategy = Strategy::Genetic};
  session.measurer.after_batch = [&] { session.stop = session.measurer.batches.size() == 6; };
  const auto report = session.run();
  REQUIRE(report);
  CHECK(report->stop_reason == StopReason::Stopped);
  CHECK(session.measurer.batches.size() == 6);
  CHECK(session.sink.trials.size() == 21);
  CHECK_FALSE(report->winner);
  CHECK(report->incumbent);
  CHECK(session.measurer.finalists.empty());
}

TEST_CASE("a batch that comes back short was interrupted: what finished is kept") {
  for (int answers : {0, 1, 2, 11}) {
    Session session(matmul());
    session.options = {.seed = 6, .budget = {.trials = 500}};
    session.measurer.answer_at_most = answers;
    const auto report = session.run();
    REQUIRE(report);
    CHECK(report->stop_reason == StopReason::Stopped);
    CHECK(session.sink.trials.size() == static_cast<size_t>(answers));
    CHECK(session.measurer.finalists.empty());
  }
}

TEST_CASE("trials reach the sink before the next batch is bred; a sink that fails ends the search") {
  Session session(matmul());
  session.options = {.seed = 6, .budget = {.trials = 30}};
  size_t measured = 0;
  session.measurer.after_batch = [&] {
    CHECK(session.sink.trials.size() == measured);
    measured += session.measurer.batches.back().size();
  };
  REQUIRE(session.run());

  Session full(matmul());
  full.options = {.seed = 6, .budget = {.trials = 30}};
  full.sink.fail_at = 7;
  const auto report = full.run();
  REQUIRE_FALSE(report);
  CHECK(report.error().code == "disk-full");
  CHECK(full.measurer.batches.size() == 3);
}

TEST_CASE("progress tells what was done and what is left") {
  Session session(matmul());
  session.options = {.seed = 6, .budget = {.trials = 14, .seconds = 1000}};
  session.measurer.seconds_each = 2;
  const auto report = session.run();
  REQUIRE(report);
  std::vector<Phase> phases;
  for (const Progress& event : session.progress) phases.push_back(event.phase);
  CHECK(phases == std::vector{Phase::Seeding, Phase::Seeding, Phase::Seeding, Phase::Searching, Phase::Searching,
                              Phase::Finals, Phase::Done});
  CHECK(session.progress[1].trials == 5);
  CHECK(session.progress[1].trials_left == 9);
  CHECK(session.progress[1].seconds_left == 990);
  CHECK(session.progress.back().best_ratio == report->incumbent_ratio);
  int outcomes = 0;
  for (const auto& [outcome, count] : session.progress.back().outcomes) outcomes += count;
  CHECK(outcomes == 14);
}

}  // namespace tile_tune::search
