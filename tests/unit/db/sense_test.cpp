// Figures in records from elsewhere that nobody can have measured.
#include <catch2/catch.hpp>
#include <limits>
#include <sstream>

#include "db/json_lines.h"
#include "tests/unit/db/fixture.h"

using namespace tile_tune::db;
using namespace tile_tune::db::testing;
using tile_tune::Result;

TEST_CASE("figures that nobody can have measured are refused with their line and field") {
  Folder folder;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::string run(32, 'a');
  const SessionKey key{program_id(matmul()), target_id(target()), tool_id(tool())};
  SessionRow row = session();
  row.id = run;
  row.state = "done";
  const std::string before = header_line() + "\n" + to_line({key.program, matmul()}) + "\n" +
                             to_line({key.target, target()}) + "\n" + to_line({key.tool, tool()}) + "\n" +
                             to_line({session_digest(key, row), SessionRecord{key, row}}) + "\n";
  const auto refused = [&](const TrialRow& figures) {
    const ScheduleRow schedule{figures.schedule_id, figures.schedule_json};
    Database db = open(folder.file());
    return value(take_text(db, before + to_line({schedule.id, schedule}) + "\n" +
                                   to_line({trial_id(key, run, figures), TrialRecord{run, figures}}) + "\n"))
        .refused;
  };
  const auto with = [&](double TrialRow::*field, double number) {
    TrialRow figures = winner(0, 8, 100);
    figures.*field = number;
    return refused(figures);
  };
  const auto [field, name] = GENERATE(table<double TrialRow::*, std::string>({
      {&TrialRow::median_ns, "median_ns"},
      {&TrialRow::ratio, "ratio"},
      {&TrialRow::ratio_lo, "ratio_lo"},
      {&TrialRow::ratio_hi, "ratio_hi"},
      {&TrialRow::peak_fraction, "peak_fraction"},
      {&TrialRow::peak_fraction_lo, "peak_fraction_lo"},
      {&TrialRow::peak_fraction_hi, "peak_fraction_hi"},
      {&TrialRow::compile_ms, "compile_ms"},
      {&TrialRow::elapsed_s, "elapsed_s"},
  }));
  for (const double number : {-1.0, -1e-300, -inf, inf, 1e308, 1e30}) {
    INFO(name << " " << number);
    const auto told = with(field, number);
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0].text(),
               Catch::StartsWith("trial ") && Catch::Contains(" (shared.jsonl:7): its field \"" + name + "\" is "));
  }
  CHECK(with(field, nan).empty());  // unknown
  CHECK(with(&TrialRow::verify_error, -1).size() == 1);
  CHECK(with(&TrialRow::verify_error, inf).empty());  // of a wrong result
  TrialRow odd = winner(0, 8, 100);
  for (const double sample : {-1.0, inf, nan, 1e308}) {
    odd.samples_ns = {100, sample, 100};
    CHECK_THAT(refused(odd).at(0).text(), Catch::Contains("its field \"samples_ns\" is "));
  }
  odd = winner(0, 8, 100);
  odd.ratio = 1.7;  // above its interval
  CHECK_THAT(refused(odd).at(0).text(),
             Catch::Contains("its field \"ratio\" is 1.7, which is not between \"ratio_lo\", 1.4, "));
}

TEST_CASE("nonsense about programs, targets and tools is refused, and so is what needs it") {
  Folder folder;
  const auto refused = [&](const ProgramRow& program, const TargetRow& target, const ToolRow& tool) {
    Database db = open(folder.file());
    return value(take_text(db, header_line() + "\n" + to_line({program_id(program), program}) + "\n" +
                                   to_line({target_id(target), target}) + "\n" + to_line({tool_id(tool), tool}) + "\n"))
        .refused;
  };
  ProgramRow program = matmul();
  for (const double flops : {-1.0, 1e308, std::numeric_limits<double>::infinity()}) {
    program.flops = flops;
    CHECK_THAT(refused(program, target(), tool()).at(0).text(),
               Catch::StartsWith("program ") && Catch::Contains(" (shared.jsonl:2): its field \"flops\""));
  }
  for (const int threads : {0, -1, 2'000'000'000})
    CHECK_THAT(refused(matmul(), target(threads), tool()).at(0).text(),
               Catch::Contains("(shared.jsonl:3): its field \"threads\""));
  ToolRow odd = tool();
  odd.schedule_version = -1;
  CHECK_THAT(refused(matmul(), target(), odd).at(0).text(), Catch::Contains("its field \"schedule_version\" is -1"));
}

TEST_CASE("a stored winner with figures that nobody can have measured is not taken") {
  Folder folder;
  {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
    value(db.append_trial(run, winner(0, 8, 100)));
    value(db.append_trial(run, winner(1, 16, 1e308)));
    value(db.append_trial(run, winner(2, 32, -1)));
    value(db.finish_session(run, "done"));
  }
  Database db = open(folder.file(), Mode::ReadOnly);
  CHECK(value(db.best(matmul(), target(), tool()))->schedule_json == R"({"tile":8})");
}
