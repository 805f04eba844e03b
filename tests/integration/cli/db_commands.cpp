#include "base/sha256.h"
#include "db_commands.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "db/database.h"
#include "frontend/ir/canonical.h"

namespace tile_tune::test {

Finished run(const Sandbox& box, const std::string& verb, const Words& more, const Words& program) {
  Words arguments{verb};
  arguments.insert(arguments.end(), program.begin(), program.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return box.run(arguments);
}

void tune(const Sandbox& box, const std::string& file, const std::string& seed) {
  const auto tuned = run(box, "tune", {"--trials", "2", "--seed", seed, "--db", file});
  INFO(tuned.err);
  REQUIRE(tuned.exit_code == 0);
}

nlohmann::json json_of(const Finished& finished) {
  INFO(finished.err);
  REQUIRE(finished.exit_code == 0);
  return nlohmann::json::parse(finished.out);
}

std::string rung(const Sandbox& box, const Words& databases, const Words& program) {
  Words more{"--what", "schedule", "--json"};
  for (const auto& file : databases) more.insert(more.end(), {"--db", file});
  return json_of(run(box, "explain", more, program))["rung"];
}

void choose(const Sandbox& box, const std::string& file, const std::function<void(nlohmann::json&)>& change) {
  auto database = db::Database::open(box.path(file), db::Mode::ReadWrite);
  REQUIRE(database);
  const auto row = database->recorded()->front();
  auto trial = database->trials_of(row.program, row.target, row.tool)->front().trial;
  auto schedule = nlohmann::json::parse(trial.schedule_json);
  change(schedule);
  trial.schedule_json = schedule.dump();
  trial.schedule_id = tile_tune::base::sha256_hex(trial.schedule_json);
  trial.origin = "final";
  trial.ratio = trial.ratio_lo = trial.ratio_hi = 2;
  trial.created_ms = 0;
  trial.chosen = true;
  const auto session = database->begin_session(row.program, row.target, row.tool, {});
  REQUIRE(database->append_trial(*session, trial));
  REQUIRE(database->finish_session(*session, "done"));
}

}  // namespace tile_tune::test
