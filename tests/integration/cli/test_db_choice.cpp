// Which of the stored schedules is taken; tile-tune db quarantine.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "db/database.h"
#include "db_commands.h"

using namespace tile_tune::test;
namespace db = tile_tune::db;

TEST_CASE("sizes that are not stored get the schedule of the nearest that are, adapted, or the default") {
  const Sandbox box;
  const Words square = {"matmul.tc", "-s", "M=64", "-s", "N=64", "-s", "K=64"};
  REQUIRE(run(box, "tune", {"--trials", "1", "--seed", "1", "--db", "a.db"}, square).exit_code == 0);
  // Where nothing beat the default schedule there, the default is the best guess here.
  const Words other = {"matmul.tc", "-s", "M=63", "-s", "N=65", "-s", "K=64"};
  CHECK(rung(box, {"a.db"}, other) == "default");
  choose(box, "a.db", [](nlohmann::json& schedule) { schedule["stages"][0]["reduction_unroll"] = {2}; });
  // Then something did; which of the two is taken, a model says that has learned next to nothing.
  const auto built = run(box, "build", {"--db", "a.db", "-o", "out", "--json"}, other);
  const auto kernel = json_of(built)["kernels"][0];
  CHECK(built.err.find("untuned") != std::string::npos);
  CHECK(kernel["record"]["untimed"] == true);
  if (kernel["rung"] == "nearest") {
    CHECK(kernel["record"]["nearest"]["sizes"]["M"] == 64);
    CHECK(box.read("out/include/matmul.h").find("nearest schedule") != std::string::npos);
  } else {
    CHECK(kernel["rung"] == "default");
  }
  const auto plan = json_of(run(box, "tune", {"--dry-run", "--db", "a.db", "--json"}, other));
  CHECK(plan["relatives"] == 1);  // a search begins with it
  const Words doubles = {"einsum:ij,jk->ik", "--dtype", "f64", "-s", "i=33", "-s", "j=34", "-s", "k=35"};
  CHECK(json_of(run(box, "tune", {"--dry-run", "--db", "a.db", "--json"}, doubles))["relatives"] == 1);
  const Words batches = {"einsum:bij,bjk->bik", "-s", "b=3", "-s", "i=33", "-s", "j=34", "-s", "k=35"};
  CHECK(json_of(run(box, "tune", {"--dry-run", "--db", "a.db", "--json"}, batches))["relatives"] == 1);
  const Words columns = {"matmul.tc", "-s", "M=64", "-s", "N=64", "-s", "K=64", "--layout", "col"};
  CHECK(json_of(run(box, "tune", {"--dry-run", "--db", "a.db", "--json"}, columns))["relatives"] == 1);
  const Words alien = {"matvec.tc", "-s", "R=31", "-s", "C=37"};
  CHECK(json_of(run(box, "tune", {"--dry-run", "--db", "a.db", "--json"}, alien))["relatives"] == 0);
  CHECK(rung(box, {"a.db"}, alien) == "default");
}

TEST_CASE("a stored schedule that does not fit does not hide the one before it") {
  const Sandbox box;
  tune(box, "a.db");
  const auto before = json_of(run(box, "explain", {"--what", "schedule", "--db", "a.db", "--json"}));
  choose(box, "a.db", [](nlohmann::json& schedule) { schedule["stages"] = nlohmann::json::array(); });
  const auto after = run(box, "explain", {"--what", "schedule", "--db", "a.db", "--json"});
  CHECK(json_of(after) == before);
  CHECK(after.err.find("passed over") != std::string::npos);
  CHECK(after.err.find("[untuned]") == std::string::npos);
}

TEST_CASE("what was tuned for more threads is taken, what was tuned for fewer is named") {
  const Sandbox box;
  REQUIRE(run(box, "tune", {"--trials", "1", "--seed", "1", "--db", "one.db", "--threads", "1"}).exit_code == 0);
  REQUIRE(run(box, "tune", {"--trials", "1", "--seed", "1", "--db", "two.db", "--threads", "2"}).exit_code == 0);
  const auto fewer = run(box, "explain", {"--what", "schedule", "--db", "two.db", "--threads", "1", "--json"});
  const auto taken = json_of(fewer);
  CHECK(taken["rung"] == "nearest");
  CHECK(taken["record"]["nearest"]["threads"] == 2);
  CHECK(fewer.err.find("is tuned for 2 threads, not for 1 thread: that schedule is taken") != std::string::npos);
  const auto more = run(box, "explain", {"--what", "schedule", "--db", "one.db", "--threads", "2", "--json"});
  CHECK(json_of(more)["rung"] == "default");
  CHECK(more.err.find("it is tuned for 1 thread: --threads 1") != std::string::npos);
}

TEST_CASE("failed schedules are listed, and a reproducer of each reproduces it") {
  const Sandbox box;
  tune(box, "a.db");
  auto database = db::Database::open(box.path("a.db"), db::Mode::ReadWrite);
  REQUIRE(database);
  const auto row = database->recorded()->front();
  auto trial = database->trials_of(row.program, row.target, row.tool)->at(1).trial;  // not the default
  trial.outcome = "crash";
  trial.reason = "killed by signal 11; $(rm -rf /)\n`evil`";
  trial.chosen = false;
  const auto session = database->begin_session(row.program, row.target, row.tool, {});
  REQUIRE(database->append_trial(*session, trial));
  REQUIRE(database->finish_session(*session, "done"));
  const auto listed = json_of(box.run({"db", "quarantine", "--db", "a.db", "--json", "-o", "reproducers"}));
  REQUIRE(listed.size() == 1);
  const std::string folder = "reproducers/" + listed[0]["trial"].get<std::string>().substr(0, 12);
  CHECK(box.names(folder) == Words{"program.json", "reproduce.txt", "schedule.json"});
  const auto text = box.read(folder + "/reproduce.txt");
  CHECK(text.find("\ntile-tune tune program.json --schedule schedule.json --trials 2 --seed ") != std::string::npos);
  CHECK(text.find('$') == std::string::npos);
  CHECK(text.find('`') == std::string::npos);
  const auto again = box.run({"build", folder + "/program.json", "--schedule", folder + "/schedule.json", "-o", "out"});
  INFO(again.err);
  CHECK(again.exit_code == 0);  // it did not crash in truth

  // Whoever names it has it tried.
  const auto tries = [&] {
    const auto trials = database->trials_of(row.program, row.target, row.tool);
    return std::count_if(trials->begin(), trials->end(),
                         [&](const auto& one) { return one.trial.schedule_id == trial.schedule_id; });
  };
  const auto before = tries();
  REQUIRE(run(box, "tune", {"--trials", "2", "--seed", "1", "--db", "a.db"}).exit_code == 0);
  CHECK(tries() == before);
  REQUIRE(run(box, "tune", {"--trials", "2", "--db", "a.db", "--schedule", folder + "/schedule.json"}).exit_code == 0);
  CHECK(tries() > before);
}
