// Budgets and the finals: pure functions of figures.
#include <catch2/catch.hpp>
#include <cmath>

#include "search/evolve/budget.h"
#include "search/evolve/finals.h"
#include "tests/unit/evolve/fakes.h"

namespace tile_tune::search {
namespace {

Measurement final_of(double ratio, double lo, double hi, Outcome outcome = Outcome::Ok) {
  Measurement measurement;
  measurement.outcome = outcome;
  measurement.ratio = ratio;
  measurement.ratio_lo = lo;
  measurement.ratio_hi = hi;
  return measurement;
}
const Measurement kDefault = final_of(1, 1, 1);

Population ranked(const std::vector<std::pair<std::string, double>>& members) {
  Population population;
  for (const auto& [key, ratio] : members) {
    Measurement measurement;
    measurement.ratio = ratio;
    add(population, schedule_of({static_cast<int>(key[0])}), key, measurement);
  }
  return population;
}

std::string keys(const std::vector<Member>& members) {
  std::string all;
  for (const Member& member : members) all += member.key;
  return all;
}

}  // namespace

TEST_CASE("finalists: the default, the previous best, the best four others") {
  const auto population = ranked({{"d", 1.0}, {"a", 3.0}, {"b", 2.5}, {"p", 0.8}, {"c", 2.0}, {"e", 1.5}, {"f", 1.2}});
  CHECK(keys(finalists(population, "d", "", 4)) == "dabce");
  CHECK(keys(finalists(population, "d", "p", 4)) == "dpabce");
  CHECK(keys(finalists(population, "d", "a", 4)) == "dabcef");
  CHECK(keys(finalists(population, "d", "x", 4)) == "dabce");
  CHECK(keys(finalists(population, "d", "d", 2)) == "dab");
  CHECK(keys(finalists(ranked({{"d", 1.0}}), "d", "", 4)) == "d");
  CHECK(finalists(population, "x", "", 4).empty());
}

TEST_CASE("who was far slower than the default is no finalist, unless it is the previous best") {
  const auto population = ranked({{"a", 1.1}, {"d", 1.0}, {"b", 0.9}, {"c", 0.8}, {"e", 0.3}});
  CHECK(keys(finalists(population, "d", "", 4)) == "dab");
  CHECK(keys(finalists(population, "d", "e", 4)) == "deab");
  CHECK(keys(finalists(ranked({{"d", 1.0}, {"c", 0.8}}), "d", "", 4)) == "d");
}

TEST_CASE("a challenger wins only when its interval excludes 1") {
  CHECK(decide({kDefault}, false) == 0);
  CHECK(decide({kDefault, final_of(1.2, 0.99, 1.4)}, false) == 0);
  CHECK(decide({kDefault, final_of(1.2, 1.0, 1.4)}, false) == 0);
  CHECK(decide({kDefault, final_of(1.2, 1.01, 1.4)}, false) == 1);
  CHECK(decide({kDefault, final_of(0.8, 0.7, 0.9)}, false) == 0);
  CHECK(decide({kDefault, final_of(1.3, 1.2, 1.4), final_of(1.5, 1.1, 1.9), final_of(1.4, 1.3, 1.5)}, false) == 2);
  CHECK(decide({kDefault, final_of(1.3, 1.2, 1.4), final_of(1.5, 0.9, 1.9)}, false) == 1);
  CHECK(decide({kDefault, final_of(9, 8, 10, Outcome::Crash), final_of(1.3, 1.2, 1.4)}, false) == 2);
}

TEST_CASE("the previous best stands unless it is slower than the default or clearly beaten") {
  const Measurement previous = final_of(1.5, 1.4, 1.6);
  CHECK(decide({kDefault, previous}, true) == 1);
  CHECK(decide({kDefault, final_of(1.0, 0.9, 1.1)}, true) == 1);
  CHECK(decide({kDefault, final_of(0.8, 0.7, 0.9)}, true) == 0);
  CHECK(decide({kDefault, final_of(1.5, 1.4, 1.6, Outcome::RunError)}, true) == 0);
  CHECK(decide({kDefault, previous, final_of(1.55, 1.45, 1.6)}, true) == 1);
  CHECK(decide({kDefault, previous, final_of(1.7, 1.55, 1.8)}, true) == 1);
  CHECK(decide({kDefault, previous, final_of(1.7, 1.65, 1.8)}, true) == 2);
  CHECK(decide({kDefault, final_of(0.8, 0.7, 0.9), final_of(1.2, 1.1, 1.3)}, true) == 2);
  CHECK(decide({kDefault, final_of(0.95, 0.9, 1.1), final_of(1.02, 0.98, 1.1)}, true) == 1);
}

TEST_CASE("the previous best and a challenger are compared round by round") {
  // Far apart from round to round, as the default's time is, never from each other.
  Measurement previous = final_of(1.5, 1.2, 1.8), faster = final_of(1.53, 1.22, 1.83), scattered = faster;
  for (int round = 0; round < 31; ++round) {
    previous.log_ratios.push_back(0.4 + 0.1 * (round % 7));
    faster.log_ratios.push_back(previous.log_ratios.back() + 0.02);
    scattered.log_ratios.push_back(previous.log_ratios.back() + (round % 2 == 0 ? 0.2 : -0.2));
  }
  CHECK(decide({kDefault, previous, faster}, true) == 2);
  CHECK(decide({kDefault, previous, scattered}, true) == 1);
  CHECK(decide({kDefault, faster, previous}, true) == 1);
  faster.log_ratios.pop_back();  // no pairs, and intervals that overlap
  CHECK(decide({kDefault, previous, faster}, true) == 1);
}

TEST_CASE("the report names the winner with its final figures") {
  const Landscape landscape = synthetic_matmul();
  Session session(landscape);
  session.options = {.seed = 12, .budget = {.trials = 60}};
  const auto report = session.run();
  REQUIRE(report);
  REQUIRE(report->winner);
  CHECK(report->winner->standing == Standing::New);
  CHECK(report->winner->schedule == *report->incumbent);
  CHECK(report->winner->measurement.ratio_lo == Approx(0.99 * report->incumbent_ratio));
  CHECK(report->default_measurement.ratio_hi == Approx(1.01));
  CHECK(session.measurer.finalists.front() == schedule_of(landscape.default_member));
  CHECK(report->finals.size() == 5);
  CHECK(session.sink.trials.size() == 65);
  CHECK(session.sink.trials.back().origin == "final");
  CHECK(session.sink.trials.back().sequence == 64);

  // Next time nothing beats it clearly: it stands.
  Session again(landscape);
  again.options = {.seed = 12, .budget = {.trials = 2}};
  again.priors.best = report->winner->schedule;
  const auto second = again.run();
  REQUIRE(second);
  CHECK(second->winner->standing == Standing::Previous);
  CHECK(second->winner->schedule == report->winner->schedule);

  // And noise as wide as the gain confirms nobody.
  Session noisy(landscape);
  noisy.options = {.seed = 12, .budget = {.trials = 60}};
  noisy.measurer.finals_lo = 0.1;
  CHECK(noisy.run()->winner->standing == Standing::Default);
}

TEST_CASE("finals that disagree with the trials on the default's time are run once more, then marked") {
  const Landscape landscape = synthetic_matmul();
  const auto untuned = [&](std::vector<double> slower) {
    Session session(landscape);
    session.options = {.seed = 12, .budget = {.trials = 10}};
    session.measurer.finals_slower = std::move(slower);
    const Measurement result = session.run()->default_measurement;
    return std::pair{result.median_ns / landscape.default_ns(), result.disturbed};
  };
  CHECK(untuned({1.4, 1}) == std::pair{1.4, false});
  CHECK(untuned({1.8, 1}) == std::pair{1.0, false});
  CHECK(untuned({1 / 1.8, 1}) == std::pair{1.0, false});
  CHECK(untuned({1.8, 2, 1}) == std::pair{2.0, true});
}

TEST_CASE("far ahead is who was so in each of a few rounds, or in the interval of many") {
  const auto is_far = [](const std::vector<double>& ratios, double standing = 1) {
    Measurement trial;
    trial.outcome = Outcome::Ok;
    for (const double ratio : ratios) trial.log_ratios.push_back(std::log(ratio));
    return is_far_ahead(trial, standing);
  };
  CHECK(is_far({1.2, 1.3, 1.25}));
  CHECK_FALSE(is_far({1.2, 1.3, 1.15}));
  CHECK_FALSE(is_far({1.5, 1.5}));
  // One round of many was disturbed.
  const std::vector<double> many{1.3, 1.3, 1.31, 0.8, 1.29, 1.3, 1.32, 1.3, 1.28, 1.3, 1.3};
  CHECK(is_far(many));
  CHECK_FALSE(is_far(many, 1.2));
  CHECK_FALSE(is_far(std::vector<double>(31, 1.1)));
}

TEST_CASE("a search that is stopped, in its finals or before, keeps who was far ahead in every round of its race") {
  const Landscape landscape = synthetic_matmul();
  const auto search = [&](int rounds, bool in_finals) {
    Session session(landscape);
    session.options = {.seed = 12, .budget = {.trials = 60}};
    session.measurer.rounds = rounds;
    session.measurer.finals_at_most = 3;
    if (!in_finals) session.measurer.after_batch = [&] { session.stop = session.sink.trials.size() >= 50; };
    const auto report = session.run();
    REQUIRE(report);
    CHECK(report->stop_reason == StopReason::Stopped);
    CHECK(report->finals_held == FinalsHeld::Stopped);
    CHECK(report->finals.size() == (in_finals ? 3u : 0u) + (report->winner ? 1 : 0));
    CHECK((session.sink.trials.back().origin == "final") == (in_finals || report->winner));
    return *report;
  };
  for (const bool in_finals : {true, false}) {
    const auto far = search(5, in_finals);
    REQUIRE(far.incumbent_ratio > 1.2);
    REQUIRE(far.winner);
    CHECK(far.winner->standing == Standing::New);
    CHECK(far.winner->schedule == *far.incumbent);
    CHECK(far.winner->measurement.ratio_lo > 1);
    CHECK_FALSE(search(2, in_finals).winner);  // rounds that may be luck
  }
}

TEST_CASE("the costs of the first batch are not taken for those of a candidate") {
  Cost cost;
  cost.add_batch(1, 20);
  CHECK(cost.per_candidate() == 0);
  cost.add_batch(4, 2);
  cost.add_batch(0, 1);
  cost.add_batch(4, 4);
  CHECK(cost.per_candidate() == 0.75);
  CHECK(finals_seconds(cost, 1e6) == Approx(0.75 + 2));
  CHECK(finals_seconds(cost, 1e9) == Approx(0.75 + 31));
}

TEST_CASE("finals take a tenth of the budget at most, of long calls up to a quarter") {
  CHECK(most_for_finals({.seconds = 30}, 1e6) == Approx(3));
  CHECK(most_for_finals({.seconds = 20, .whole = 30}, 1e6) == Approx(3));  // getting ready took the rest
  CHECK(most_for_finals({.seconds = 30}, 400e6) == Approx(1.1 * 4.8));     // twelve
  CHECK(most_for_finals({.seconds = 30}, 800e6) == Approx(7.5));
  CHECK(std::isinf(most_for_finals({.trials = 5}, 1e6)));
  CHECK(has_time_for_finals(3, 80e6));  // 37 calls
  CHECK_FALSE(has_time_for_finals(3, 90e6));
  CHECK(has_time_for_short_finals(3, 250e6));  // twelve
  CHECK_FALSE(has_time_for_short_finals(3, 260e6));
}

TEST_CASE("finals of long kernels have fewer finalists") {
  const Landscape landscape = synthetic_matmul();
  const auto finalists_at = [&](double seconds) {
    Session session(landscape);
    session.options = {.seed = 12, .budget = {.trials = 60, .seconds = seconds}};
    session.run();
    return session.measurer.finalists;
  };
  const auto all = finalists_at(1000);
  CHECK(all.size() == 5);
  double round = 0;
  for (const auto& schedule : all) round += landscape.time(schedule) * 1e-9;
  CHECK(finalists_at(10 * 37 * round * 1.01).size() == 5);
  CHECK(finalists_at(10 * 37 * round * 0.99).size() == 4);
  CHECK(finalists_at(10 * 12 * round).size() == 2);
}

TEST_CASE("one finalist has no finals: the default stands by its trial") {
  const Landscape landscape = synthetic_matmul();
  const Budget budget = GENERATE(Budget{.trials = 1, .seconds = 1000}, Budget{.trials = 1});
  Session session(landscape);
  session.options = {.seed = 12, .budget = budget};
  const auto report = session.run();
  REQUIRE(report);
  CHECK(session.measurer.finalists.empty());
  CHECK(report->finals_held == FinalsHeld::OneFinalist);
  REQUIRE(report->winner);
  CHECK(report->winner->standing == Standing::Default);
  CHECK(report->winner->measurement.median_ns == landscape.default_ns());
  CHECK(report->winner->measurement.ratio_lo == 1);
  CHECK(report->winner->measurement.ratio_hi == 1);
  CHECK(session.sink.trials.size() == 2);
  CHECK(session.sink.trials.back().origin == "final");
}

TEST_CASE("without time for finals only who was far ahead in every round of its race takes the default's place") {
  const Landscape landscape = synthetic_matmul();
  const auto search = [&](int rounds, const std::optional<codegen::Schedule>& best = std::nullopt) {
    Session session(landscape);
    session.options = {.seed = 12, .budget = {.trials = 60, .seconds = 1000}};
    session.measurer.rounds = rounds;
    session.measurer.finals_take = 101;
    session.priors.best = best;
    const auto report = session.run();
    REQUIRE(report);
    CHECK(report->finals_held == FinalsHeld::NoTime);
    CHECK(report->seconds.finals == Approx(100));
    REQUIRE(report->winner);
    return std::pair{*report, session.sink.trials.back().origin == "final"};
  };
  const auto [far, stored] = search(5);
  REQUIRE(far.incumbent_ratio > 1.2);
  CHECK(far.winner->standing == Standing::New);
  CHECK(far.winner->schedule == *far.incumbent);
  // Of five rounds that say the same no interval without a width is made.
  CHECK(far.winner->measurement.ratio_lo == Approx(0.85 * far.incumbent_ratio));
  CHECK(far.winner->measurement.ratio_hi == Approx(far.incumbent_ratio / 0.85));
  CHECK(far.winner->measurement.roof_unknown);
  CHECK(stored);
  const auto [few, default_stored] = search(2);  // rounds that may be luck
  CHECK(few.winner->standing == Standing::Default);
  CHECK(default_stored);
  // What is stored stands, with the figures that it was stored with.
  const auto [again, stored_again] = search(5, far.winner->schedule);
  CHECK(again.winner->standing == Standing::Previous);
  CHECK_FALSE(stored_again);
}

TEST_CASE("finals of too few rounds decide nothing: who was far ahead in its race wins, else who stood before") {
  const Landscape landscape = synthetic_matmul();
  const auto search = [&](int final_rounds, int rounds, const std::optional<codegen::Schedule>& best = std::nullopt) {
    Session session(landscape);
    session.options = {.seed = 12, .budget = {.trials = 60, .seconds = 1000}};
    session.measurer.rounds = rounds;
    session.measurer.finals_rounds = final_rounds;
    session.priors.best = best;
    const auto report = session.run();
    REQUIRE(report);
    REQUIRE(report->winner);
    return *report;
  };
  const TuneReport enough = search(6, 2);
  CHECK(enough.finals_held == FinalsHeld::Yes);
  CHECK(enough.winner->standing == Standing::New);
  const TuneReport few = search(5, 2);
  CHECK(few.finals_held == FinalsHeld::NoTime);
  CHECK(few.final_rounds == 5);
  CHECK(few.winner->standing == Standing::Default);
  CHECK(few.winner->measurement.ratio == 1);
  CHECK(few.finals.size() == 1);  // the default as it stands by its trial
  const TuneReport one = search(1, 2);
  CHECK(one.final_rounds == 1);
  CHECK(one.winner->standing == Standing::Default);
  // What is far ahead in every round of its race needs no finals.
  const TuneReport far = search(1, 5);
  CHECK(far.winner->standing == Standing::New);
  CHECK(far.winner->schedule == *far.incumbent);
  // The stored best stays, whatever one round says.
  const TuneReport stored = search(1, 2, far.winner->schedule);
  CHECK(stored.winner->standing == Standing::Previous);
}

TEST_CASE("an interval that nobody knows beats nobody, and puts nobody out") {
  Measurement one_round = final_of(1.12, 0, 0), previous = final_of(0.9, 0, 0);
  one_round.log_ratios = {std::log(1.12)};
  previous.log_ratios = {std::log(0.9)};
  CHECK(decide({kDefault, one_round}, false) == 0);
  CHECK(decide({kDefault, previous, one_round}, true) == 1);
  CHECK_FALSE(is_slower(previous));
  CHECK(is_slower(final_of(0.9, 0.85, 0.95)));
  CHECK(with_interval(one_round).ratio_lo == 0);
  CHECK(with_interval(one_round).ratio_hi == 0);
  one_round.log_ratios.assign(6, std::log(1.12));
  CHECK(with_interval(one_round).ratio_lo == Approx(1.12));
  CHECK(rounds_of({kDefault, one_round, final_of(2, 1, 3, Outcome::Crash)}) == 0);
  CHECK(rounds_of({one_round, final_of(2, 1, 3, Outcome::Crash)}) == 6);
}

TEST_CASE("finals that do not fit at all are not begun") {
  const Landscape landscape = synthetic_matmul();
  Session session(landscape);
  const double each = landscape.default_ns() * 1e-9;
  session.options = {.seed = 12, .budget = {.trials = 60, .seconds = 4 * 9 * each}};
  const auto report = session.run();
  REQUIRE(report);
  CHECK(session.measurer.finalists.empty());
  CHECK(report->finals_held == FinalsHeld::NoTime);
}

TEST_CASE("whatever candidates take, the search ends with its budget, and the default's trial a little later") {
  const Landscape landscape = synthetic_matmul();
  for (const double each : {0.1, 0.7, 3.0, 11.0}) {
    Session session(landscape);
    session.measurer.seconds_each = each;
    session.measurer.first_batch_extra = 4;
    session.measurer.finals_take = 1.5;
    session.options = {.seed = 12, .budget = {.seconds = 10, .whole = 20, .overtime = 2}};
    const auto report = session.run();
    INFO(each);
    REQUIRE(report);
    CHECK(session.measurer.now - 1000 <= (each < 6 ? 10 : 12));
    CHECK(report->stop_reason == StopReason::Time);
    REQUIRE_FALSE(session.measurer.deadlines.empty());
    CHECK(session.measurer.deadlines.front() == 1012);
    for (size_t i = 1; i < session.measurer.deadlines.size(); ++i) {
      CHECK(session.measurer.deadlines[i] <= 1010);
      CHECK(session.measurer.deadlines[i] >= 1008);  // the finals have two seconds at most
    }
    if (each < 6) CHECK(report->winner);
    if (each > 6) {
      CHECK_FALSE(report->winner);
      CHECK(report->finals_held == FinalsHeld::NoTime);
      CHECK(session.sink.trials.empty());
    }
  }
}

TEST_CASE("what the budget allows") {
  Cost cost;
  CHECK(allowed({}, {100000, 1e9}, cost, 10, 4) == 4);
  CHECK(allowed({.trials = 10}, {7, 0}, cost, 0, 4) == 3);
  CHECK(allowed({.trials = 10}, {12, 0}, cost, 0, 4) == 0);
  CHECK(allowed({.seconds = 10}, {7, 8.9}, cost, 1, 4) == 4);  // costs unknown yet
  CHECK(allowed({.seconds = 10}, {7, 9}, cost, 1, 4) == 0);
  cost.add_batch(1, 1);
  cost.add_batch(2, 1);
  CHECK(allowed({.seconds = 10}, {7, 8}, cost, 1, 4) == 2);
  CHECK(allowed({.seconds = 10}, {7, 8.6}, cost, 1, 4) == 0);
  CHECK(allowed({.seconds = 10}, {7, 2}, cost, 7, 4) == 2);  // what is kept for the finals is the caller's to limit
  CHECK(allowed({.trials = 8, .seconds = 10}, {7, 0}, cost, 1, 4) == 1);
}

}  // namespace tile_tune::search
