// What `db list` and `db show` are given.
#include <catch2/catch.hpp>

#include "tests/unit/db/fixture.h"

using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

/// matmul tuned twice on two threads (the second time under another name), once and in vain on one.
void fill(const Folder& folder) {
  Database db = open(folder.file());
  const auto first = value(db.begin_session(matmul(), target(), tool(), session(1'000)));
  value(db.append_trial(first, trial(0)));
  value(db.append_trial(first, winner(1, 16, 200)));
  value(db.finish_session(first, "done"));
  const auto vain = value(db.begin_session(matmul(), target(1), tool(), session(2'000)));
  TrialRow crash = trial(0);
  crash.outcome = "crash";
  value(db.append_trial(vain, crash));
  value(db.finish_session(vain, "aborted"));
  ProgramRow renamed = matmul();
  renamed.name = "product";
  const auto second = value(db.begin_session(renamed, target(), tool("0.2.0"), session(3'000)));
  crash.sequence = 1;
  TrialRow loser = winner(2, 8, 300);
  loser.chosen = false;
  value(db.append_trial(second, trial(0)));
  value(db.append_trial(second, crash));
  value(db.append_trial(second, loser));
  value(db.append_trial(second, winner(3, 32, 100)));
  value(db.finish_session(second, "done"));
}

}  // namespace

TEST_CASE("an empty database lists nothing") {
  Folder folder;
  CHECK(value(open(folder.file()).list()).empty());
}

TEST_CASE("a session that ended before its first trial is not listed") {
  Folder folder;
  Database db = open(folder.file());
  value(db.finish_session(value(db.begin_session(matmul(), target(), tool(), session(1'000))), "aborted"));
  CHECK(value(db.list()).empty());
  CHECK(db.show("matmul").error().code == "no-such-record");
  const auto run = value(db.begin_session(matmul(), target(), tool(), session(2'000)));
  value(db.append_trial(run, trial(0)));
  CHECK(value(db.list())[0].sessions == 1);
  CHECK(value(db.show("matmul"))[0].sessions.size() == 1);
  CHECK(value(db.show("matmul"))[0].sessions[0].id == run);
}

TEST_CASE("list has one row per computation and target, the latest first") {
  Folder folder;
  fill(folder);
  Database db = open(folder.file(), Mode::ReadOnly);
  const auto rows = value(db.list());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].program.name == "product");
  CHECK(rows[0].program.sizes_json == R"({"M":512,"N":511,"K":7})");
  CHECK(rows[0].target.machine.threads == 2);
  CHECK(rows[0].target.machine.cpu_model == "Zen 5");
  CHECK(rows[0].sessions == 2);
  CHECK(rows[0].trials == 6);
  CHECK(rows[0].created_ms == 3'000);
  REQUIRE(rows[0].best.has_value());
  CHECK(rows[0].best->median_ns == 100);
  CHECK(rows[0].best->ratio == 1.5);
  CHECK(rows[1].program.name == "matmul");
  CHECK(rows[1].target.machine.threads == 1);
  CHECK(rows[1].trials == 1);
  CHECK_FALSE(rows[1].best.has_value());
  CHECK(rows[0].id.size() == 12);
  CHECK(rows[0].id != rows[1].id);
}

TEST_CASE("the best of another CPU is not listed as this one's") {
  Folder folder;
  Database db = open(folder.file());
  const auto tuned = value(db.begin_session(matmul(), target(2, "Xeon"), tool(), session(1'000)));
  value(db.append_trial(tuned, winner(0, 8, 100)));
  const auto other = value(db.begin_session(matmul(), target(2, "Zen 5"), tool(), session(2'000)));
  value(db.append_trial(other, trial(0)));
  const auto rows = value(db.list());
  REQUIRE(rows.size() == 2);
  CHECK_FALSE(rows[0].best.has_value());
  CHECK(rows[1].best.has_value());
}

TEST_CASE("show tells everything about a row by its name, its id or the start of its id") {
  Folder folder;
  fill(folder);
  Database db = open(folder.file(), Mode::ReadOnly);
  const std::string id = value(db.list())[0].id;
  for (const std::string& query : {std::string("product"), id, id.substr(0, 4)}) {
    const auto rows = value(db.show(query));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].summary.id == id);
    CHECK(rows[0].summary.best->schedule_json == R"({"tile":32})");
    CHECK(rows[0].summary.best->tool.tile_tune == "0.2.0");
    CHECK(rows[0].outcomes == std::map<std::string, int>{{"ok", 5}, {"crash", 1}});
    REQUIRE(rows[0].sessions.size() == 2);
    CHECK(rows[0].sessions[0].created_ms == 1'000);
    CHECK(rows[0].sessions[1].state == "done");
    REQUIRE(rows[0].finals.size() == 2);  // of the latest session only
    CHECK(rows[0].finals[0].trial.median_ns == 300);
    CHECK_FALSE(rows[0].finals[0].trial.chosen);
    CHECK(rows[0].finals[1].trial.median_ns == 100);
    CHECK(rows[0].finals[1].trial.chosen);
  }
}

TEST_CASE("a name that several rows share shows them all") {
  Folder folder;
  Database db = open(folder.file());
  value(db.append_trial(value(db.begin_session(matmul(), target(1), tool(), session(1'000))), trial(0)));
  value(db.append_trial(value(db.begin_session(matmul(), target(2), tool(), session(2'000))), trial(0)));
  CHECK(value(db.show("matmul")).size() == 2);
}

TEST_CASE("show names what it does not find; a pattern is no name") {
  Folder folder;
  fill(folder);
  Database db = open(folder.file(), Mode::ReadOnly);
  const std::string id = value(db.list())[0].id;
  for (const std::string& query : {std::string("conv"), std::string(), std::string("%"), id.substr(0, 3), id + "0"}) {
    const auto rows = db.show(query);
    REQUIRE_FALSE(rows.has_value());
    CHECK(rows.error().code == "no-such-record");
  }
}

TEST_CASE("recorded: every key with trials, the latest first, or those of one family") {
  Folder folder;
  Database db = open(folder.file());
  const auto add = [&](ProgramRow program, const TargetRow& on, const ToolRow& with, int64_t when, int trials) {
    const auto run = value(db.begin_session(program, on, with, session(when)));
    for (int i = 0; i < trials; ++i) value(db.append_trial(run, trial(i, 8 + i)));
    value(db.finish_session(run, "done"));
  };
  ProgramRow larger = matmul();
  larger.content_hash = std::string(64, 'a');
  larger.canonical_json = R"({"larger":1})";
  ProgramRow other = matmul();
  other.content_hash = std::string(64, 'b');
  other.family_hash = std::string(64, 'c');
  other.name = "other";
  add(matmul(), target(), tool(), 1'000, 2);
  add(matmul(), target(), tool(), 4'000, 3);
  add(matmul(), target(1), tool(), 2'000, 1);
  add(larger, target(), tool("0.2.0"), 3'000, 4);
  add(other, target(), tool(), 5'000, 1);
  add(other, target(2, "Zen 4"), tool(), 6'000, 0);

  std::vector<int> trials;
  for (const auto& row : value(db.recorded())) trials.push_back(row.trials);
  CHECK(trials == std::vector{1, 5, 4, 1});
  const auto family = value(db.recorded(matmul().family_hash));
  REQUIRE(family.size() == 3);
  CHECK(family[1].program.content_hash == larger.content_hash);
  CHECK(family[1].tool.tile_tune == "0.2.0");
  CHECK(family[2].target.machine.threads == 1);
  for (const auto& row : family)
    CHECK(value(db.trials_of(row.program, row.target, row.tool)).size() == static_cast<size_t>(row.trials));
  CHECK(value(db.recorded(std::string(64, 'd'))).empty());
}

TEST_CASE("show takes an einsum's subscripts for its name") {
  Folder folder;
  Database db = open(folder.file());
  ProgramRow program = matmul();
  program.name = program.frontend = "einsum";
  program.source = "ij,jk->ik";
  const auto run = value(db.begin_session(program, target(), tool(), session()));
  value(db.append_trial(run, winner(0, 8, 100)));
  value(db.finish_session(run, "done"));
  CHECK(value(db.show("ij,jk->ik")).size() == 1);
  CHECK_FALSE(db.show("ij,jk->ki").has_value());
}

TEST_CASE("finals of a program on a target come session by session, whatever the tool, and nothing else does") {
  Folder folder;
  fill(folder);
  Database db = open(folder.file(), Mode::ReadOnly);
  const auto finals = value(db.finals(matmul(), target()));
  REQUIRE(finals.size() == 3);
  CHECK(finals[0].trial.schedule_json == R"({"tile":16})");
  CHECK(finals[1].trial.schedule_json == R"({"tile":8})");
  CHECK(finals[0].session != finals[1].session);
  CHECK(value(db.finals(matmul(), target(1))).empty());
}
