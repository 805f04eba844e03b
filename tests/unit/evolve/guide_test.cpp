// The cost model in the search: what is picked, filtered, known beforehand, and reported.
#include "search/evolve/guide.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/unit/evolve/fakes.h"

namespace tile_tune::search {
namespace {

Measurement measured(double ratio, Outcome outcome = Outcome::Ok) {
  Measurement measurement;
  measurement.ratio = ratio;
  measurement.outcome = outcome;
  return measurement;
}

/// Candidate i is seen as {i, i % 7}.
std::vector<Candidate> pool_of(int count) {
  std::vector<Candidate> pool;
  for (int i = 0; i < count; ++i) pool.push_back({schedule_of({i}), std::to_string(i), "mutation", {}});
  return pool;
}
std::vector<Guide::View> views_of(int count) {
  std::vector<Guide::View> views;
  for (int i = 0; i < count; ++i) views.push_back({{static_cast<float>(i), static_cast<float>(i % 7)}, 0});
  return views;
}

/// One that has seen that larger is faster.
Guide taught() {
  Guide guide({});
  for (int i = 0; i < 40; i += 2) guide.learn(views_of(40)[static_cast<size_t>(i)], measured(1 + i / 20.0));
  return guide;
}

std::vector<std::string> keys(const std::vector<Candidate>& candidates) {
  std::vector<std::string> keys;
  for (const auto& candidate : candidates) keys.push_back(candidate.key);
  return keys;
}

}  // namespace

TEST_CASE("what a measurement teaches") {
  CHECK(lesson(measured(1.5)) == 1.5);
  CHECK(lesson(measured(0.2, Outcome::Slow)) == 0.2);
  CHECK(lesson(measured(1.5, Outcome::Duplicate)) == 1.5);
  CHECK(lesson(measured(0, Outcome::Wrong)) == 0);
  CHECK(lesson(measured(3, Outcome::Crash)) == 0);
  CHECK(lesson(measured(0, Outcome::NoSpace)) == std::nullopt);
  CHECK(lesson(measured(0)) == std::nullopt);  // it works, but was never timed
}

TEST_CASE("the model is at work from eight samples, its own or its relatives'") {
  Guide guide({});
  for (int i = 0; i < 8; ++i) {
    CHECK_FALSE(guide.ready());
    guide.learn({{1}, 0}, measured(1));
  }
  CHECK(guide.ready());
  CHECK(Guide(std::vector<predict::Sample>(8, {{1}, 1})).ready());
}

TEST_CASE("the predicted best are picked, all of a small pool, none twice") {
  Guide guide = taught();
  Rng rng(1);
  const auto picked = guide.pick(pool_of(40), views_of(40), 6, 0, rng);
  REQUIRE(picked);
  CHECK(picked->size() == 6);
  for (const auto& key : keys(*picked)) CHECK(std::stoi(key) >= 28);
  const auto all = keys(*guide.pick(pool_of(5), views_of(5), 8, 0.5, rng));
  CHECK(std::set<std::string>(all.begin(), all.end()) == std::set<std::string>{"0", "1", "2", "3", "4"});
}

TEST_CASE("a share of the places goes to any candidate") {
  Guide guide = taught();
  Rng rng(7);
  int slow = 0;
  for (int i = 0; i < 50; ++i)
    for (const auto& key : keys(*guide.pick(pool_of(40), views_of(40), 4, 0.5, rng))) slow += std::stoi(key) < 20;
  CHECK(slow > 25);  // half of 200 places, half of the pool
  CHECK(slow < 75);
}

TEST_CASE("of twins one is picked, then something else") {
  Guide guide = taught();
  Rng rng(1);
  const std::vector<Guide::View> views{{{38, 3}, 0}, {{38, 3}, 0}, {{38, 3}, 0}, {{37, 2}, 0}, {{0, 0}, 0}};
  const auto picked = keys(*guide.pick(pool_of(5), views, 2, 0, rng));
  CHECK(std::count(picked.begin(), picked.end(), "3") == 1);
}

TEST_CASE("few samples lean on the estimate, many do not") {
  const auto first_pick = [](int samples) {
    Guide guide({});
    Rng rng(1);
    // Measured: larger is faster; estimated: the other way round.
    for (int i = 0; i < samples; ++i) guide.learn({{static_cast<float>(i % 40), 0}, 100}, measured(1 + (i % 40)));
    std::vector<Guide::View> views;
    for (int i = 0; i < 40; ++i) views.push_back({{static_cast<float>(i), 0}, 100.0 + 100 * i});
    return std::stoi(guide.pick(pool_of(40), views, 1, 0, rng)->front().key);
  };
  CHECK(first_pick(8) < 8);
  CHECK(first_pick(800) > 30);
}

TEST_CASE("predictions are judged by what was measured afterwards, once") {
  Guide guide = taught();
  Rng rng(1);
  const auto picked = *guide.pick(pool_of(40), views_of(40), 4, 1, rng);
  std::vector<Measurement> measurements;
  for (const auto& candidate : picked) measurements.push_back(measured(1 + std::stoi(candidate.key)));
  const auto quality = guide.judge(picked, measurements);
  REQUIRE(quality);
  CHECK(quality->pairs == 6);
  CHECK(quality->ordered >= 4);  // neighbours may share a leaf
  CHECK_FALSE(guide.judge(picked, measurements));
}

TEST_CASE("a guided search has eight seeds in all, then batches picked from a pool") {
  Session session(matmul());
  session.options = {.seed = 3, .budget = {.trials = 40}};
  session.priors.best = schedule_of({3, 1, 1, 1, 2, 0, 0, 1, 1});
  const auto report = session.run();
  REQUIRE(report);
  CHECK(report->strategy == Strategy::Model);
  const auto trials = searched(session.sink.trials);
  REQUIRE(trials.size() == 40);
  for (size_t i = 0; i < trials.size(); ++i) {
    CHECK(trials[i].generation == (i < 8 ? 0 : static_cast<int>((i - 8) / 4 + 1)));
    // Neighbours of the best known, and random ones in turn.
    if (i >= 2 && i < 8) CHECK(trials[i].origin == (i % 2 == 0 ? "mutation" : "random"));
  }
  CHECK(report->quality.pairs > 20);
  predict::Quality sum;
  for (const auto& point : report->history)
    if (point.quality) sum += *point.quality;
  CHECK(sum.pairs == report->quality.pairs);
  CHECK(session.progress.back().quality->pairs == sum.pairs);
}

TEST_CASE("seeds are those that look best on paper, but for every fourth") {
  Session session(matmul());
  session.options = {.seed = 3, .budget = {.trials = 8}};
  session.moves.estimate = [](const codegen::Schedule& schedule) { return 100.0 - genome_of(schedule)[0]; };
  REQUIRE(session.run());
  const auto trials = searched(session.sink.trials);
  std::vector<int> rows;
  for (const Trial& trial : trials) rows.push_back(genome_of(trial.schedule)[0]);
  CHECK(rows[1] > genome_of(session.moves.default_schedule())[0]);  // the best of its neighbours
  CHECK(rows[3] <= rows[1]);                                        // the next
  CHECK(rows[2] == 6);                                              // the most there are, of 64 random ones
  CHECK(rows[6] == 6);
}

TEST_CASE("what the analytical model takes for nearly as good is tried first, and once") {
  const auto next = schedule_of(matmul().members[7]), last = schedule_of(matmul().members[9]);
  for (const Strategy strategy : {Strategy::Model, Strategy::Genetic, Strategy::Random}) {
    Session session(matmul());
    session.options = {.seed = 3, .budget = {.trials = 12}, .strategy = strategy};
    session.moves.alternatives = [&] { return std::vector<codegen::Schedule>{next, last}; };
    session.priors.earlier.push_back(
        {.sequence = 1, .generation = 0, .origin = "model", .parents = {}, .schedule = last, .measurement = {}});
    REQUIRE(session.run());
    const auto trials = searched(session.sink.trials);
    REQUIRE(trials.size() == 12);
    const auto from_model = [](const Trial& trial) { return trial.origin == "model"; };
    CHECK(std::count_if(trials.begin(), trials.end(), from_model) == (strategy == Strategy::Model ? 1 : 0));
    if (strategy != Strategy::Model) continue;
    CHECK(trials[1].schedule == next);
    CHECK(trials[1].origin == "model");
    CHECK(trials[2].generation == 0);  // the other seeds follow
  }
}

TEST_CASE("random and genetic searches ask no model") {
  for (const Strategy strategy : {Strategy::Genetic, Strategy::Random}) {
    Session session(matmul());
    session.options = {.seed = 3, .budget = {.trials = 40}, .strategy = strategy};
    session.moves.row = nullptr;
    session.moves.hopeless = nullptr;
    const auto report = session.run();
    REQUIRE(report);
    CHECK(report->quality.pairs == 0);
    CHECK_FALSE(session.progress.back().quality);
  }
}

TEST_CASE("hopeless random proposals are not tried, and counted; offspring is") {
  Session session(matmul());
  session.options = {.seed = 3, .budget = {.trials = 80}};
  session.moves.hopeless = [](const codegen::Schedule& schedule) -> std::optional<std::string> {
    if (genome_of(schedule)[1] > 0) return "it has too many vectors";
    return std::nullopt;
  };
  const auto report = session.run();
  REQUIRE(report);
  bool bred = false;
  for (const Trial& trial : searched(session.sink.trials)) {
    if (trial.origin == "random") CHECK(genome_of(trial.schedule)[1] == 0);
    bred |= genome_of(trial.schedule)[1] > 0;
  }
  CHECK(bred);
  REQUIRE(report->hopeless.size() == 1);
  CHECK(report->hopeless.at("it has too many vectors") > 50);
}

TEST_CASE("what moves could not do and repairs took back is counted by reason, known schedules included") {
  Session session(matmul());
  session.options = {.seed = 3, .budget = {.trials = 40}};
  int mutants = 0, samples = 0;
  session.moves.mutate = [&, mutate = session.moves.mutate](const codegen::Schedule& parent, Rng& rng) {
    ++mutants;
    return Drawn(mutate(parent, rng).schedule, {"it has no reduction", "it has no reduction"});
  };
  session.moves.sample = [&, sample = session.moves.sample](Rng& rng) {
    ++samples;
    return Drawn(sample(rng).schedule, {"its tiles did not fit"});
  };
  const auto report = session.run();
  REQUIRE(report);
  REQUIRE(report->taken_back.size() == 2);
  const int sampled = report->taken_back.at("its tiles did not fit");
  CHECK(sampled > 32);
  CHECK(sampled <= samples);
  const int mutated = report->taken_back.at("it has no reduction");
  CHECK(mutated % 2 == 0);
  CHECK(mutated > mutants);
  CHECK(mutated <= 2 * mutants);
}

TEST_CASE("where everything is hopeless it is tried all the same") {
  Session session(matmul());
  session.options = {.seed = 3, .budget = {.trials = 20}};
  session.moves.hopeless = [](const codegen::Schedule&) { return std::optional<std::string>("no"); };
  const auto report = session.run();
  REQUIRE(report);
  CHECK(report->trials == 20);
}

TEST_CASE("a model that knows the program needs no random seeds, and one that knows a relative is no worse") {
  const auto half = [&](bool as_relatives) {
    Session session(matmul());
    session.options = {.seed = 3, .budget = {.trials = 12}};
    const double best_ratio = matmul().default_ns() / matmul().best_ns();
    for (size_t i = 0; i < matmul().members.size(); i += 50) {
      const auto schedule = schedule_of(matmul().members[i]);
      const double time = matmul().time(schedule), ratio = time > 0 ? matmul().default_ns() / time : 0;
      if (as_relatives) {
        session.priors.relatives.push_back({session.moves.row(schedule), static_cast<float>(ratio / best_ratio)});
        continue;
      }
      Trial& trial = session.priors.earlier.emplace_back();
      trial.schedule = schedule;
      trial.measurement = measured(ratio, ratio > 0 ? Outcome::Ok : Outcome::CompileError);
    }
    const auto report = session.run();
    REQUIRE(report);
    return std::pair(report->incumbent_ratio / best_ratio, session.sink.trials[1].generation);
  };
  const auto [known, known_generation] = half(false);
  CHECK(known > 0.85);
  CHECK(known_generation == 1);
  const auto [related, related_generation] = half(true);
  CHECK(related > 0.85);
  CHECK(related_generation == 0);  // another size's samples say little of what is hopeless here
}

}  // namespace tile_tune::search
