// An unfinished session goes on as if it had not been interrupted.
#include <catch2/catch.hpp>

#include "tests/unit/evolve/fakes.h"

namespace tile_tune::search {
namespace {

constexpr int kTrials = 60;

/// Every seventh schedule fails.
const Landscape& faulty_matmul() {
  static const Landscape landscape = [] {
    Landscape faulty = synthetic_matmul();
    for (size_t i = 0; i < faulty.members.size(); i += 7) faulty.time_ns[key_of(schedule_of(faulty.members[i]))] = 0;
    faulty.time_ns[key_of(schedule_of(faulty.default_member))] = 2e6;
    return faulty;
  }();
  return landscape;
}

void prepare(Session& session) {
  session.options = {.seed = 9, .budget = {.trials = kTrials}};
  session.priors.best = schedule_of({3, 1, 1, 1, 2, 0, 0, 1, 1});
  session.priors.seeds = {schedule_of({4, 1, 1, 1, 2, 0, 0, 1, 1}), schedule_of({5, 1, 1, 1, 2, 0, 0, 1, 1})};
}

void check_same(const Trial& a, const Trial& b) {
  CHECK(a.sequence == b.sequence);
  CHECK(a.generation == b.generation);
  CHECK(a.origin == b.origin);
  CHECK(a.parents == b.parents);
  CHECK(a.schedule == b.schedule);
}

}  // namespace

TEST_CASE("a session resumed after any trial makes the trials of an uninterrupted one") {
  Session whole(faulty_matmul());
  prepare(whole);
  const auto whole_report = whole.run();
  REQUIRE(whole_report);
  REQUIRE(whole_report->outcomes.at(Outcome::CompileError) > 4);
  for (int cut : {0, 1, 2, 3, 5, 9, 10, 12, 27, 44, 59}) {
    CAPTURE(cut);
    Session resumed(faulty_matmul());
    prepare(resumed);
    resumed.priors.unfinished.assign(whole.sink.trials.begin(), whole.sink.trials.begin() + cut);
    // The database has learnt from the session meanwhile.
    for (const Trial& trial : resumed.priors.unfinished)
      if (trial.measurement.outcome != Outcome::Ok) resumed.priors.faulty.push_back(key_of(trial.schedule));
    if (cut > 9) resumed.priors.seeds = {whole.sink.trials[9].schedule};
    resumed.options.budget.trials = kTrials - cut;
    const auto report = resumed.run();
    REQUIRE(report);
    CHECK(report->trials == kTrials - cut);
    CHECK(report->replayed == cut);
    REQUIRE(resumed.sink.trials.size() == whole.sink.trials.size() - cut);
    for (size_t i = 0; i < resumed.sink.trials.size(); ++i)
      check_same(resumed.sink.trials[i], whole.sink.trials[cut + i]);
    CHECK(report->outcomes == whole_report->outcomes);
    CHECK(report->winner->schedule == whole_report->winner->schedule);
    CHECK(report->generations == whole_report->generations);
  }
}

TEST_CASE("a session killed in its finals repeats only these") {
  Session whole(faulty_matmul());
  prepare(whole);
  REQUIRE(whole.run());
  Session resumed(faulty_matmul());
  prepare(resumed);
  resumed.priors.unfinished.assign(whole.sink.trials.begin(), whole.sink.trials.begin() + kTrials + 2);
  resumed.options.budget.trials = 0;
  const auto report = resumed.run();
  REQUIRE(report);
  CHECK(resumed.measurer.batches.empty());
  CHECK(report->trials == 0);
  CHECK(report->replayed == kTrials);
  CHECK(resumed.measurer.finalists == whole.measurer.finalists);
  CHECK(resumed.sink.trials.front().sequence == kTrials + 2);
}

TEST_CASE("stored trials the search would not have made are kept as knowledge") {
  Session other(faulty_matmul());
  prepare(other);
  other.options.seed = 10;
  const auto other_report = other.run();
  REQUIRE(other_report);

  Session resumed(faulty_matmul());
  prepare(resumed);
  resumed.priors.unfinished = searched(other.sink.trials);
  resumed.options.budget.trials = 20;
  const auto report = resumed.run();
  REQUIRE(report);
  CHECK(report->trials == 20);
  CHECK(report->replayed == kTrials);
  CHECK(report->generations < 10);  // all of them at once, not one by one as it happens to breed them
  CHECK(report->incumbent_ratio >= other_report->incumbent_ratio);
  CHECK(resumed.sink.trials.front().sequence == kTrials);
  for (const Trial& trial : searched(resumed.sink.trials))
    for (const Trial& old : resumed.priors.unfinished) CHECK(trial.schedule != old.schedule);
}

TEST_CASE("a resumed session can be stopped again") {
  Session whole(faulty_matmul());
  prepare(whole);
  REQUIRE(whole.run());
  Session resumed(faulty_matmul());
  prepare(resumed);
  resumed.priors.unfinished.assign(whole.sink.trials.begin(), whole.sink.trials.begin() + 30);
  resumed.measurer.answer_at_most = 1;
  const auto report = resumed.run();
  REQUIRE(report);
  CHECK(report->stop_reason == StopReason::Stopped);
  REQUIRE(resumed.sink.trials.size() == 1);
  check_same(resumed.sink.trials[0], whole.sink.trials[30]);
}

}  // namespace tile_tune::search
