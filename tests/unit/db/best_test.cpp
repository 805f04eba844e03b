// Which schedule is the best one.
#include <sqlite3.h>

#include <array>
#include <catch2/catch.hpp>
#include <limits>

#include "db/insert.h"
#include "db/state.h"
#include "tests/unit/db/fixture.h"

using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

/// A finished session that chose one schedule.
std::string tuned(Database& db, const ProgramRow& program, const TargetRow& on, const ToolRow& with, TrialRow row) {
  const auto run = value(db.begin_session(program, on, with, session(row.created_ms)));
  const auto id = value(db.append_trial(run, row));
  value(db.finish_session(run, "done"));
  return id;
}

}  // namespace

TEST_CASE("without a chosen trial there is no best, however fast the trials") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  TrialRow fast = winner(0, 8, 1);
  fast.chosen = false;
  value(db.append_trial(run, fast));
  CHECK_FALSE(value(db.best(matmul(), target(), tool())).has_value());
}

TEST_CASE("the best row carries the schedule, its figures and where it comes from") {
  Folder folder;
  Database db = open(folder.file());
  const auto id = tuned(db, matmul(), target(), tool(), winner(4, 32, 250));
  ProgramRow renamed = matmul();
  renamed.name = "product";
  const auto best = value(db.best(renamed, target(), tool()));
  REQUIRE(best.has_value());
  CHECK(best->trial_id == id);
  CHECK(best->schedule_json == R"({"tile":32})");
  CHECK(best->median_ns == 250);
  CHECK(best->ratio == 1.5);
  CHECK(best->ratio_lo == 1.4);
  CHECK(best->ratio_hi == 1.6);
  CHECK(best->peak_fraction == 0.75);
  CHECK(best->peak_fraction_lo == 0.7);
  CHECK(best->peak_fraction_hi == 0.8);
  CHECK(best->program.name == "matmul");
  CHECK(best->tool.llvm == "21.1");
  CHECK(best->same_target);
  CHECK(best->same_tool);
}

TEST_CASE("the latest chosen trial is the best, not the one with the smallest median") {
  Folder folder;
  Database db = open(folder.file());
  tuned(db, matmul(), target(), tool(), winner(0, 8, 100));
  tuned(db, matmul(), target(), tool(), winner(0, 16, 900));
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":16})");
}

TEST_CASE("a clock that went back does not bring back an old winner") {
  Folder folder;
  Database db = open(folder.file());
  TrialRow first = winner(0, 8, 100), second = winner(0, 16, 100);
  first.created_ms = 9'000'000;
  second.created_ms = 5'000;
  tuned(db, matmul(), target(), tool(), first);
  tuned(db, matmul(), target(), tool(), second);
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":16})");
}

TEST_CASE("only an ok finalist that is not slower than the default can be chosen") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  TrialRow not_final = winner(0, 8, 100), not_ok = winner(1, 8, 100), slower = winner(2, 8, 100);
  not_final.origin = "mutation";
  not_ok.outcome = "timeout";
  slower.ratio_lo = 0.90;
  slower.ratio_hi = 0.99;
  std::vector<TrialRow> refused{not_final, not_ok, slower};
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  const std::vector<std::array<double, 3>> no_speeds{{0.01, kNan, kNan}, {0.01, 0.005, 0}, {0.01, -2, -1},
                                                     {0, 0, 0},          {kNan, 1.1, 1.2}, {1.5, 1.6, 1.7},
                                                     {1.5, 1.2, 1.4},    {1.5, 1.4, kInf}, {1.5, 0, 1.6}};
  for (const auto& [ratio, lo, hi] : no_speeds) {
    TrialRow row = winner(3, 8, 100);
    row.ratio = ratio, row.ratio_lo = lo, row.ratio_hi = hi;
    refused.push_back(row);
  }
  for (const TrialRow& row : refused) {
    const auto stored = db.append_trial(run, row);
    REQUIRE_FALSE(stored.has_value());
    CHECK(stored.error().code == "bad-record");
  }
  TrialRow as_fast = winner(3, 8, 100);
  as_fast.ratio = 1;
  as_fast.ratio_lo = 0.99;
  as_fast.ratio_hi = 1.01;
  CHECK(db.append_trial(run, as_fast).has_value());
  CHECK(value(db.trials_of(matmul(), target(), tool())).size() == 1);
}

TEST_CASE("a stored winner that says nothing of its speed is not taken, and refutes nothing") {
  Folder folder;
  Database db = open(folder.file());
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  value(db.append_trial(run, winner(0, 8, 100)));
  Connection raw = value(open_connection(folder.file(), Mode::ReadWrite));
  const SessionKey key{program_id(matmul()), target_id(target()), tool_id(tool())};
  for (const int tile : {8, 16}) {
    TrialRow row = winner(tile, tile, 90);
    row.ratio_lo = row.ratio_hi = std::numeric_limits<double>::quiet_NaN();
    const std::string id = trial_id(key, run, row);
    value(insert_schedule(raw.get(), {row.schedule_id, row.schedule_json}));
    value(insert_trial(raw.get(), id, run, row));
    value(insert_winner(raw.get(), {id, workload_id(matmul()), 9'000 + tile}));
  }
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":8})");
  CHECK(value(db.best(matmul(), target(), tool()))->median_ns == 100);
  CHECK(db.damaged_records().empty());
}

TEST_CASE("lookups prefer the same target, then the same model, then the same tool, and say which it is") {
  Folder folder;
  Database db = open(folder.file());
  TargetRow bigger_cache = target();
  bigger_cache.machine.l1_bytes = 49152;
  tuned(db, matmul(), target(2, "Xeon"), tool(), winner(0, 4, 100));
  auto best = value(db.best(matmul(), target(), tool()));
  CHECK(best->schedule_json == R"({"tile":4})");
  CHECK_FALSE(best->same_target);
  CHECK(best->same_tool);

  tuned(db, matmul(), bigger_cache, tool("0.0.9"), winner(0, 8, 100));
  best = value(db.best(matmul(), target(), tool()));
  CHECK(best->schedule_json == R"({"tile":8})");
  CHECK_FALSE(best->same_target);
  CHECK_FALSE(best->same_tool);

  tuned(db, matmul(), target(), tool("0.0.9"), winner(0, 16, 100));
  best = value(db.best(matmul(), target(), tool()));
  CHECK(best->schedule_json == R"({"tile":16})");
  CHECK(best->same_target);
  CHECK_FALSE(best->same_tool);

  tuned(db, matmul(), target(), tool(), winner(0, 32, 100));
  tuned(db, matmul(), target(2, "Xeon"), tool(), winner(0, 64, 100));
  best = value(db.best(matmul(), target(), tool()));
  CHECK(best->schedule_json == R"({"tile":32})");
  CHECK(best->same_target);
  CHECK(best->same_tool);
}

TEST_CASE("other threads, instruction sets, layouts, constants and computations have no say") {
  Folder folder;
  Database db = open(folder.file());
  tuned(db, matmul(), target(1), tool(), winner(0, 8, 100));
  TargetRow avx512 = target();
  avx512.machine.features.add(tile_tune::codegen::Feature::Avx512);
  tuned(db, matmul(), avx512, tool(), winner(0, 8, 100));
  ProgramRow columns = matmul(), constant = matmul(), other = matmul();
  columns.layout = "col";
  constant.layout = "rRr";
  other.content_hash[0] = other.content_hash[0] == '0' ? '1' : '0';
  tuned(db, columns, target(), tool(), winner(0, 8, 100));
  tuned(db, constant, target(), tool(), winner(0, 16, 100));
  tuned(db, other, target(), tool(), winner(0, 8, 100));
  CHECK_FALSE(value(db.best(matmul(), target(), tool())).has_value());
  CHECK(value(db.best(constant, target(), tool()))->schedule_json == R"({"tile":16})");
}

TEST_CASE("looking up the best walks an index from the workload") {
  Folder folder;
  { open(folder.file()); }
  sqlite3* raw = nullptr;
  REQUIRE(sqlite3_open(folder.file().c_str(), &raw) == SQLITE_OK);
  std::string plan;
  {
    Statement explain(raw, "EXPLAIN QUERY PLAN " + std::string(winners_sql()));
    while (value(explain.step())) plan += explain.text(3) + "\n";
  }
  sqlite3_close(raw);
  CHECK_THAT(plan, Catch::StartsWith("SEARCH w USING"));
  CHECK_THAT(plan, Catch::Contains("INDEX winner_workload (workload=?)"));
  CHECK_THAT(plan, !Catch::Contains("SCAN"));
}
