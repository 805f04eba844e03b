// What becomes of candidates that crash or compute wrong results: quarantined with a reproducer, refused, exit code 4.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "db/database.h"
#include "engine/records/workload.h"
#include "frontend/ir/json.h"
#include "sandbox.h"
#include "search/space/space.h"

using namespace tile_tune::test;
namespace db = tile_tune::db;
namespace codegen = tile_tune::codegen;

namespace {

using Words = std::vector<std::string>;

const std::string kSelf = std::filesystem::read_symlink("/proc/self/exe").string();

Finished run(const Sandbox& box, const std::string& fault, const Words& arguments) {
  Words command{"env", "BROKEN_BACKEND=" + fault, kSelf, "tile-tune"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return box.run_program(command);
}

Finished tune(const Sandbox& box, const std::string& fault, const std::string& file, const Words& more = {}) {
  Words arguments{"tune", "matvec.tc", "-s", "R=31", "-s", "C=37", "--seed", "7", "--json", "--db", file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(box, fault, arguments);
}

nlohmann::json json_of(const Finished& finished) {
  INFO(finished.err);
  REQUIRE(finished.exit_code == 0);
  return nlohmann::json::parse(finished.out);
}

std::string last_line(const std::string& text) {
  std::istringstream stream(text);
  std::string last;
  for (std::string line; std::getline(stream, line);) last = line;
  return last;
}

/// The database gets a winner that is another schedule than the default one.
codegen::Schedule choose_another(const Sandbox& box, const std::string& file) {
  auto database = db::Database::open(box.path(file), db::Mode::ReadWrite).value();
  const auto row = database.recorded()->front();
  const auto program = tile_tune::ir::program_from_json(nlohmann::json::parse(row.program.canonical_json)).value();
  const auto target = tile_tune::engine::target_of(row.target).value();
  const tile_tune::search::Space space(program, target);
  tile_tune::search::Rng rng(1);
  const auto other = space.mutate(space.default_schedule(), rng).schedule;
  tile_tune::search::Trial trial;
  trial.schedule = other;
  trial.origin = "final";
  trial.measurement.median_ns = 1;
  trial.measurement.ratio = trial.measurement.ratio_lo = trial.measurement.ratio_hi = 2;
  auto stored = tile_tune::engine::trial_row(trial);
  stored.chosen = true;
  const auto session = database.begin_session(row.program, row.target, row.tool, {});
  REQUIRE(database.append_trial(*session, stored));
  REQUIRE(database.finish_session(*session, "done"));
  return other;
}

}  // namespace

TEST_CASE("a crashing schedule is quarantined while tuning, with a reproducer whose command makes it crash again") {
  const std::string fault = GENERATE(as<std::string>(), "crash", "abort");
  const Sandbox box;
  const auto summary = json_of(tune(box, fault, "t.db", {"--trials", "3"}));
  const std::string outcome = fault == "crash" ? "crash" : "compile-error";
  CHECK(summary["outcomes"][outcome] == 2);
  REQUIRE(summary["quarantined"].size() == 2);
  const std::filesystem::path reproducer = summary["quarantined"][0].get<std::string>();
  const std::string name = "t.db-quarantine/" + reproducer.filename().string();
  CHECK(box.names(name) == Words{"program.json", "reproduce.txt", "schedule.json"});
  const auto listed = json_of(run(box, "", {"db", "quarantine", "--db", "t.db", "--json"}));
  REQUIRE(listed.size() == 2);

  const std::string text = box.read(name + "/reproduce.txt");
  CHECK(text.find("tile-tune " + std::string("0.")) != std::string::npos);
  CHECK(text.find("Halide 21") != std::string::npos);
  const std::string command = last_line(text);
  CHECK(command.find("--seed 7") != std::string::npos);
  const auto again =
      box.run_program({"sh", "-c", "cd '" + name + "' && BROKEN_BACKEND=" + fault + " '" + kSelf + "' " + command});
  INFO(again.err);
  CHECK(again.exit_code == 0);
  const auto repeated = json_of(run(box, "", {"db", "quarantine", "--db", name + "/reproduction.db", "--json"}));
  REQUIRE(repeated.size() == 1);
  CHECK(repeated[0]["outcome"] == outcome);
  const auto same = std::find_if(listed.begin(), listed.end(), [&](const auto& one) {
    return one["trial"].template get<std::string>().starts_with(reproducer.filename().string());
  });
  REQUIRE(same != listed.end());
  CHECK(repeated[0]["schedule_id"] == (*same)["schedule_id"]);

  // Nothing that crashed is tried again.
  std::set<std::string> tried;
  json_of(tune(box, fault, "t.db", {"--trials", "3"}));
  for (const auto& one : json_of(run(box, "", {"db", "quarantine", "--db", "t.db", "--json"})))
    CHECK(tried.insert(one["schedule_id"]).second);
  CHECK(tried.size() == 4);
}

TEST_CASE("reproducers that cannot be written end no search") {
  const Sandbox box;
  box.write("t.db-quarantine", "a file where the folder should be");
  const auto tuned = tune(box, "crash", "t.db", {"--trials", "3"});
  CHECK(json_of(tuned)["quarantined"].empty());
  CHECK(tuned.err.find("cannot-write") != std::string::npos);
  CHECK(json_of(run(box, "", {"db", "quarantine", "--db", "t.db", "--json"})).size() == 2);
}

TEST_CASE("verify finds a stored schedule that computes wrong results: exit 4, and it is taken no more") {
  const Sandbox box;
  json_of(tune(box, "crash", "t.db", {"--trials", "2"}));
  choose_another(box, "t.db");
  const Words explain{"explain", "matvec.tc", "-s",     "R=31", "-s",  "C=37",
                      "--what",  "schedule",  "--json", "--db", "t.db"};
  const auto before = json_of(run(box, "", explain));
  const auto verified = run(box, "wrong", {"db", "recheck", "--db", "t.db", "--json"});
  CHECK(verified.exit_code == 4);
  CHECK(verified.err.find("wrong-result") != std::string::npos);
  const auto findings = nlohmann::json::parse(verified.out);
  CHECK(findings["schedules"][0]["verdict"] == "wrong");
  const auto after = json_of(run(box, "", explain));
  CHECK(after["schedule"] != before["schedule"]);
}

TEST_CASE("build and run refuse a kernel that computes wrong results with exit 4, and build leaves nothing") {
  const Sandbox box;
  json_of(tune(box, "crash", "t.db", {"--trials", "2"}));
  choose_another(box, "t.db");
  const auto built = run(box, "wrong", {"build", "matvec.tc", "-s", "R=31", "-s", "C=37", "--db", "t.db", "-o", "out"});
  CHECK(built.exit_code == 4);
  CHECK(built.err.find("wrong-result") != std::string::npos);
  CHECK(box.names("out").empty());
}
