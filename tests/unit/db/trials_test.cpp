// Trials: what goes in comes out, once.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/unit/db/fixture.h"

using namespace std::string_literals;
using namespace tile_tune::db;
using namespace tile_tune::db::testing;

TEST_CASE("a trial comes back as it was stored, also from a reopened file") {
  Folder folder;
  const TrialRow given = trial(3);
  std::string id, run;
  {
    Database db = open(folder.file());
    run = value(db.begin_session(matmul(), target(), tool(), session()));
    id = value(db.append_trial(run, given));
    value(db.finish_session(run, "done"));
  }
  Database db = open(folder.file(), Mode::ReadOnly);
  const auto trials = value(db.trials_of(matmul(), target(), tool()));
  REQUIRE(trials.size() == 1);
  CHECK(trials[0].id == id);
  CHECK(trials[0].session == run);
  const TrialRow& row = trials[0].trial;
  CHECK(row.sequence == 3);
  CHECK(row.origin == "mutation");
  CHECK(row.parents == given.parents);
  CHECK(row.schedule_id == given.schedule_id);
  CHECK(row.schedule_json == R"({"tile":8})");
  CHECK(row.outcome == "ok");
  CHECK(row.code_hash == given.code_hash);
  CHECK(row.compile_ms == 123.456);
  CHECK(row.verify_error == 0.1);
  CHECK(row.samples_ns == given.samples_ns);
  CHECK(std::signbit(row.samples_ns[1]));
  CHECK(row.median_ns == 1000.0 / 3);
  CHECK(row.elapsed_s == 1.5);
  CHECK(row.created_ms == 2'003);
  CHECK_FALSE(row.disturbed);
  CHECK_FALSE(row.chosen);
  CHECK(db.damaged_records().empty());
}

TEST_CASE("numbers SQLite cannot keep exactly do not make a record look damaged") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  TrialRow wrong = trial(0);
  wrong.outcome = "wrong";
  wrong.reason = "bytes \xFF\xFE that are no text, and a zero: \0."s;
  wrong.verify_error = std::nan("");
  wrong.median_ns = -0.0;
  wrong.ratio = std::numeric_limits<double>::infinity();
  wrong.peak_fraction = 3;  // SQLite stores whole reals as integers
  wrong.parents.clear();
  wrong.samples_ns = {std::nan(""), -std::numeric_limits<double>::infinity()};
  value(db.append_trial(run, wrong));
  const auto trials = value(db.trials_of(matmul(), target(), tool()));
  REQUIRE(trials.size() == 1);
  CHECK(trials[0].trial.reason == wrong.reason);
  CHECK(std::isnan(trials[0].trial.verify_error));
  CHECK(trials[0].trial.median_ns == 0);
  CHECK(std::isinf(trials[0].trial.ratio));
  CHECK(trials[0].trial.peak_fraction == 3);
  CHECK(trials[0].trial.parents.empty());
  CHECK(std::isnan(trials[0].trial.samples_ns[0]));
  CHECK(db.damaged_records().empty());
}

TEST_CASE("the same trial stored twice is one row and keeps its id") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  const auto first = value(db.append_trial(run, winner(0, 8, 100)));
  const auto second = value(db.append_trial(run, winner(0, 8, 100)));
  CHECK(first == second);
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == 1);
}

TEST_CASE("two different trials cannot have one number in a session") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  value(db.append_trial(run, trial(0, 8)));
  const auto second = db.append_trial(run, trial(0, 16));
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().code == "bad-record");
  const auto trials = value(db.trials_of(matmul(), target(), tool()));
  REQUIRE(trials.size() == 1);
  CHECK(trials[0].trial.schedule_json == R"({"tile":8})");
}

TEST_CASE("ids of two databases agree, so that merging is INSERT OR IGNORE") {
  Folder folder;
  SessionRow shared = session();
  shared.id = "00112233445566778899aabbccddeeff";
  const auto fill = [&](const std::string& file, std::vector<int> sequences) {
    Database db = open(folder.file(file));
    const auto run = value(db.begin_session(matmul(), target(), tool(), shared));
    for (const int sequence : sequences) value(db.append_trial(run, winner(sequence, sequence, 100 + sequence)));
  };
  fill("a.db", {0, 1, 2});
  fill("b.db", {1, 2, 5});
  const std::string attach = "ATTACH '" + folder.file("b.db").string() + "' AS b;";
  std::string merge;
  for (const char* table : {"program", "target", "tool", "schedule", "session", "trial", "winner"}) {
    merge += std::string("INSERT OR IGNORE INTO main.") + table + " SELECT * FROM b." + table + ";";
  }
  sql(folder.file("a.db"), attach + merge + merge);
  Database db = open(folder.file("a.db"));
  const auto trials = value(db.trials_of(matmul(), target(), tool()));
  REQUIRE(trials.size() == 4);
  CHECK(trials[3].trial.sequence == 5);
  CHECK(value(db.list()).size() == 1);
  CHECK(db.damaged_records().empty());
}

TEST_CASE("trials come in the order of sessions and sequence, for exactly the key asked for") {
  Folder folder;
  Database db = open(folder.file());
  const auto later = value(db.begin_session(matmul(), target(), tool(), session(2'000)));
  const auto earlier = value(db.begin_session(matmul(), target(), tool(), session(1'000)));
  const auto other_tool = value(db.begin_session(matmul(), target(), tool("0.2.0"), session(500)));
  const auto other_threads = value(db.begin_session(matmul(), target(1), tool(), session(500)));
  ProgramRow columns = matmul();
  columns.layout = "col";
  const auto other_layout = value(db.begin_session(columns, target(), tool(), session(500)));
  for (const auto& run : {later, earlier, other_tool, other_threads, other_layout}) {
    value(db.append_trial(run, trial(1, 16)));
    value(db.append_trial(run, trial(0, 8)));
  }
  std::vector<std::pair<std::string, int>> order;
  ProgramRow renamed = matmul();  // another spelling of the same computation
  renamed.name = "product";
  renamed.source = "def product";
  for (const auto& row : value(db.trials_of(renamed, target(), tool())))
    order.push_back({row.session, row.trial.sequence});
  CHECK(order == std::vector<std::pair<std::string, int>>{{earlier, 0}, {earlier, 1}, {later, 0}, {later, 1}});
  CHECK(value(db.trials_of(matmul(), target(), tool(), later)).size() == 2);
  CHECK(value(db.trials_of(matmul(), target(), tool("0.3.0"))).empty());
}

TEST_CASE("a schedule whose id does not belong to its text is refused") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  TrialRow row = trial(0);
  row.schedule_json += " ";
  const auto stored = db.append_trial(run, row);
  REQUIRE_FALSE(stored.has_value());
  CHECK(stored.error().code == "bad-record");
}
