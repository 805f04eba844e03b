// Sessions: who owns one, which may be resumed.
#include <catch2/catch.hpp>

#include "tests/unit/db/fixture.h"

using namespace tile_tune::db;
using namespace tile_tune::db::testing;

TEST_CASE("an aborted session can be resumed with its seed, options, budget and what it has spent") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  for (const int sequence : {0, 1, 4}) value(db.append_trial(run, trial(sequence)));
  value(db.finish_session(run, "aborted"));

  const auto unfinished = value(db.unfinished_session(matmul(), target(), tool()));
  REQUIRE(unfinished.has_value());
  CHECK(unfinished->session.id == run);
  CHECK(unfinished->session.seed == 0xFFFFFFFFFFFFFFF7u);
  CHECK(unfinished->session.strategy == "evolve");
  CHECK(unfinished->session.options_json == R"({"population":16})");
  CHECK(unfinished->session.budget_json == R"({"trials":64})");
  CHECK(unfinished->session.state == "aborted");
  CHECK(unfinished->trials == 3);
  CHECK(unfinished->next_sequence == 5);
  CHECK(unfinished->elapsed_s == 2.0);

  value(db.resume_session(run));
  value(db.append_trial(run, trial(5)));
  value(db.finish_session(run, "done"));
  CHECK_FALSE(value(db.unfinished_session(matmul(), target(), tool())).has_value());
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == 4);
}

TEST_CASE("a session without trials can be resumed too") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  value(db.finish_session(run, "aborted"));
  const auto unfinished = value(db.unfinished_session(matmul(), target(), tool()));
  REQUIRE(unfinished.has_value());
  CHECK(unfinished->trials == 0);
  CHECK(unfinished->next_sequence == 0);
  CHECK(unfinished->elapsed_s == 0);
}

TEST_CASE("a session with trials is resumed rather than a later one without") {
  Folder folder;
  Database db = open(folder.file());
  const auto abort = [&](int trials, int64_t created) {
    const auto run = value(db.begin_session(matmul(), target(), tool(), session(created)));
    for (int sequence = 0; sequence < trials; ++sequence) value(db.append_trial(run, trial(sequence)));
    value(db.finish_session(run, "aborted"));
    return run;
  };
  abort(3, 1'000);
  const auto latest_with_trials = abort(1, 2'000);
  abort(0, 3'000);
  CHECK(value(db.unfinished_session(matmul(), target(), tool()))->session.id == latest_with_trials);
}

TEST_CASE("the latest unfinished session of exactly this key is the one to resume") {
  Folder folder;
  Database db = open(folder.file());
  const auto abort = [&](const TargetRow& on, const ToolRow& with, int64_t created) {
    const auto run = value(db.begin_session(matmul(), on, with, session(created)));
    value(db.finish_session(run, "aborted"));
    return run;
  };
  const auto latest = abort(target(), tool(), 2'000);
  abort(target(), tool(), 1'000);
  abort(target(1), tool(), 3'000);
  abort(target(), tool("0.2.0"), 4'000);
  const auto done = value(db.begin_session(matmul(), target(), tool(), session(5'000)));
  value(db.finish_session(done, "done"));
  CHECK(value(db.unfinished_session(matmul(), target(), tool()))->session.id == latest);
}

TEST_CASE("a session at work is neither aborted by nor resumable from another connection") {
  Folder folder;
  Database tuner = open(folder.file());
  const auto run = value(tuner.begin_session(matmul(), target(), tool(), session()));
  {
    Database other = open(folder.file());  // opening for writing aborts sessions whose process is gone
    CHECK_FALSE(value(other.unfinished_session(matmul(), target(), tool())).has_value());
    const auto resumed = other.resume_session(run);
    REQUIRE_FALSE(resumed.has_value());
    CHECK(resumed.error().code == "session-in-use");
    const auto appended = other.append_trial(run, trial(0));
    REQUIRE_FALSE(appended.has_value());
    CHECK(appended.error().code == "no-such-session");
  }
  // The other connection's end must not have taken our lock with it.
  value(tuner.append_trial(run, trial(0)));
  Database third = open(folder.file(), Mode::ReadOnly);
  CHECK(value(third.show("matmul"))[0].sessions[0].state == "running");
  CHECK_FALSE(value(tuner.unfinished_session(matmul(), target(), tool())).has_value());
}

TEST_CASE("a session whose owner went away without a word is aborted, for readers and in the file") {
  Folder folder;
  {
    Database db = open(folder.file());
    value(db.append_trial(value(db.begin_session(matmul(), target(), tool(), session())), trial(0)));
  }
  CHECK(sql_number(folder.file(), "SELECT count(*) FROM session WHERE state = 'running'") == 1);
  CHECK(value(open(folder.file(), Mode::ReadOnly).show("matmul"))[0].sessions[0].state == "aborted");
  open(folder.file());
  CHECK(sql_number(folder.file(), "SELECT count(*) FROM session WHERE state = 'aborted'") == 1);
}

TEST_CASE("a session that is done cannot be resumed, nor one that never was") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  value(db.finish_session(run, "done"));
  for (const std::string& id : {run, std::string(32, '0'), std::string("nonsense"), std::string()}) {
    const auto resumed = db.resume_session(id);
    REQUIRE_FALSE(resumed.has_value());
    CHECK(resumed.error().code == "no-such-session");
  }
}

TEST_CASE("a session ends done or aborted and has a proper id") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  CHECK(run.size() == 32);
  CHECK(db.finish_session(run, "running").error().code == "bad-record");
  SessionRow odd = session();
  odd.id = "ABC";
  CHECK(db.begin_session(matmul(), target(), tool(), odd).error().code == "bad-record");
  odd.id = run;
  CHECK(db.begin_session(matmul(), target(), tool(), odd).error().code == "session-in-use");
}
