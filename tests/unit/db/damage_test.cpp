// Records whose content no longer matches their digest are left out and named.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/unit/db/fixture.h"

using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

/// Two winners (tile 8, then 16), then `change` is done to the file.
void damage(const Folder& folder, const std::string& change) {
  {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
    value(db.append_trial(run, winner(0, 8, 100)));
    value(db.append_trial(run, winner(1, 16, 90)));
    value(db.finish_session(run, "aborted"));
  }
  sql(folder.file(), "PRAGMA foreign_keys = OFF;" + change);
}

}  // namespace

TEST_CASE("a changed trial is never applied; the winner before it is") {
  const std::string change = GENERATE(
      as<std::string>(), "UPDATE trial SET median_ns = 80 WHERE sequence = 1",
      "UPDATE trial SET ratio_lo = NULL WHERE sequence = 1", "UPDATE trial SET outcome = 'slow' WHERE sequence = 1",
      "UPDATE trial SET samples = x'0000000000000000' WHERE sequence = 1",
      "UPDATE trial SET parents = x'' WHERE sequence = 1", "UPDATE trial SET created = created + 1 WHERE sequence = 1",
      "UPDATE trial SET schedule = randomblob(32) WHERE sequence = 1",
      "UPDATE trial SET schedule = (SELECT schedule FROM trial WHERE sequence = 0) WHERE sequence = 1",
      "UPDATE trial SET id = randomblob(32) WHERE sequence = 1; UPDATE winner SET trial = "
      "(SELECT id FROM trial WHERE sequence = 1) WHERE trial NOT IN (SELECT id FROM trial)",
      "UPDATE schedule SET json = '{\"tile\":17}' WHERE json = '{\"tile\":16}'");
  INFO(change);
  Folder folder;
  damage(folder, change);
  Database db = open(folder.file(), Mode::ReadOnly);
  const auto best = value(db.best(matmul(), target(), tool()));
  REQUIRE(best.has_value());
  CHECK(best->schedule_json == R"({"tile":8})");
  REQUIRE(db.damaged_records().size() == 1);
  const bool of_winner = change.find("UPDATE winner") != std::string::npos;
  CHECK_THAT(db.damaged_records()[0], Catch::StartsWith(of_winner ? "winner " : "trial "));
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == 1);
  CHECK(db.damaged_records().size() == (of_winner ? 2 : 1));  // each named once
}

TEST_CASE("a winner whose time was changed is not applied, and named") {
  Folder folder;
  damage(folder, "UPDATE winner SET accepted = accepted + 1000000 WHERE accepted = (SELECT min(accepted) FROM winner)");
  Database db = open(folder.file(), Mode::ReadOnly);
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":16})");
  REQUIRE(db.damaged_records().size() == 1);
  CHECK_THAT(db.damaged_records()[0], Catch::StartsWith("winner "));
}

TEST_CASE("reading everything names every damaged record and hands out the intact ones") {
  const auto [change, name] = GENERATE(table<std::string, std::string>({
      {"UPDATE program SET name = 'x'", "program "},
      {"UPDATE program SET workload = zeroblob(32)", "program "},
      {"UPDATE target SET threads = 3", "target "},
      {"UPDATE tool SET halide = 'x'", "tool "},
      {"UPDATE session SET budget = '{}'", "session "},
      {"UPDATE schedule SET json = '{}' WHERE json = '{\"tile\":8}'", "schedule "},
      {"UPDATE trial SET elapsed_s = 77 WHERE sequence = 0", "trial "},
      {"UPDATE winner SET workload = zeroblob(32)", "winner "},
      {"DELETE FROM trial WHERE sequence = 1", "winner "},
      {"DELETE FROM session", "trial "},
  }));
  INFO(change);
  Folder folder;
  damage(folder, change);
  Database db = open(folder.file(), Mode::ReadOnly);
  int intact = 0;
  value(db.each_record([&](const Record&) -> tile_tune::Result<void> {
    ++intact;
    return {};
  }));
  const auto& damaged = db.damaged_records();
  const std::string kind = name;
  CHECK(std::any_of(damaged.begin(), damaged.end(), [&](const auto& one) { return one.starts_with(kind); }));
  CHECK(intact > 0);
  CHECK(intact < 10);
}

TEST_CASE("a changed program, target or tool takes its records out of use") {
  const auto [change, name] = GENERATE(table<std::string, std::string>({
      {"UPDATE program SET canonical = '{}'", "program "},
      {"UPDATE target SET l1_bytes = 1", "target "},
      {"UPDATE tool SET llvm = '99'", "tool "},
  }));
  INFO(change);
  Folder folder;
  damage(folder, change);
  Database db = open(folder.file(), Mode::ReadOnly);
  CHECK_FALSE(value(db.best(matmul(), target(), tool())).has_value());
  REQUIRE_FALSE(db.damaged_records().empty());
  CHECK_THAT(db.damaged_records()[0], Catch::StartsWith(name));
}

TEST_CASE("a winner moved to another computation is not applied there") {
  Folder folder;
  damage(folder, "");
  ProgramRow other = matmul();
  other.content_hash = std::string(64, 'a');
  {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(other, target(), tool(), session()));
    value(db.append_trial(run, winner(0, 64, 50)));
    value(db.finish_session(run, "done"));
  }
  sql(folder.file(), "UPDATE winner SET workload = (SELECT workload FROM program ORDER BY content_hash = '" +
                         other.content_hash + "' LIMIT 1)");
  Database db = open(folder.file(), Mode::ReadOnly);
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":16})");
}

TEST_CASE("a session with changed options is not resumed") {
  Folder folder;
  damage(folder, "UPDATE session SET seed = 1");
  Database db = open(folder.file());
  CHECK_FALSE(value(db.unfinished_session(matmul(), target(), tool())).has_value());
  REQUIRE(db.damaged_records().size() == 1);
  CHECK_THAT(db.damaged_records()[0], Catch::StartsWith("session "));
}

TEST_CASE("names that are SQL, paths or huge are data like any other") {
  Folder folder;
  Database db = open(folder.file());
  ProgramRow program = matmul();
  program.name = "'; DROP TABLE trial; --";
  program.source = std::string(2'000'000, 'x');
  program.canonical_json = "../../../etc/passwd";
  SessionRow odd = session(9'223'372'036'854'775'807);
  odd.strategy = "\"; DELETE FROM winner";
  const auto run = value(db.begin_session(program, target(2, "$(reboot)"), tool("`id`"), odd));
  TrialRow row = winner(0, 8, 1e18);
  row.reason = std::string("nul \0 inside", 12);
  row.created_ms = 9'000'000'000'000'000;
  value(db.append_trial(run, row));
  value(db.finish_session(run, "done"));
  const auto best = value(db.best(program, target(2, "$(reboot)"), tool("`id`")));
  REQUIRE(best.has_value());
  CHECK(best->program.name == program.name);
  CHECK(best->program.source.size() == 2'000'000);
  CHECK(value(db.show("'; DROP TABLE trial; --")).size() == 1);
  CHECK_FALSE(db.show("' OR 1=1 --").has_value());
  CHECK(value(db.faults("' OR 1=1 --")).empty());
  CHECK(value(db.list()).size() == 1);
  CHECK(sql_number(folder.file(), "SELECT count(*) FROM trial") == 1);
  CHECK(db.damaged_records().empty());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    CHECK_THAT(entry.path().filename().string(), Catch::StartsWith("tuning.db"));
}

TEST_CASE("a value that is too long takes its record out of use, named, and nothing else") {
  // More than the 64 MB that SQLite may hand out here: in plain columns, in keys and their indexes, in the one table
  // without row numbers.
  const std::string too_long = "CAST(zeroblob(70000000) AS TEXT)";
  const std::string loose = "PRAGMA ignore_check_constraints = ON; ";
  struct Case {
    std::string change, name;
    size_t exported, found;  // trials
    int best;                // its tile; 0: none
  };
  const Case one = GENERATE_COPY(values<Case>({
      {"UPDATE trial SET reason = " + too_long + " WHERE sequence = 1", "trial ", 1, 1, 8},
      {"UPDATE trial SET samples = zeroblob(70000000) WHERE sequence = 1", "trial ", 1, 1, 8},
      {loose + "UPDATE trial SET id = zeroblob(70000000) WHERE sequence = 1", "trial in row ", 1, 1, 8},
      {"UPDATE schedule SET json = " + too_long + " WHERE json = '{\"tile\":16}'", "schedule ", 1, 1, 8},
      {loose + "UPDATE winner SET digest = zeroblob(70000000) WHERE accepted = (SELECT max(accepted) FROM winner)",
       "winner ", 2, 2, 8},
      // Lookups do not read a session's options; trials name their session alone.
      {"UPDATE session SET options = " + too_long, "session ", 0, 2, 16},
      {"UPDATE program SET source = " + too_long, "program ", 2, 0, 0},
  }));
  const auto& change = one.change;
  INFO(change);
  Folder folder;
  damage(folder, change);
  {
    Database db = open(folder.file(), Mode::ReadOnly);
    value(db.check_pages(Database::Depth::Indexes));
    size_t read = 0;
    value(db.each_record([&](const Record& record) -> tile_tune::Result<void> {
      read += std::holds_alternative<TrialRecord>(record.content);
      return {};
    }));
    CHECK(read == one.exported);
    const auto& damaged = db.damaged_records();
    CHECK(
        std::any_of(damaged.begin(), damaged.end(), [&](const auto& record) { return record.starts_with(one.name); }));
  }
  // Whatever is asked first.
  Database db = open(folder.file());
  const auto best = value(db.best(matmul(), target(), tool()));
  const std::string expected = one.best > 0 ? fmt::format(R"({{"tile":{}}})", one.best) : "none";
  CHECK((best ? best->schedule_json : "none") == expected);
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == one.found);
  value(db.list());
  // The file can still be written: what is too long makes room for what is whole.
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  value(db.append_trial(run, winner(0, 32, 50)));
  value(db.finish_session(run, "done"));
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":32})");
}
