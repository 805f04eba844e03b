// tile-tune tune, and what it leaves in the database, whatever ends it.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/sha256.h"
#include "db/database.h"
#include "sandbox.h"

using namespace tile_tune::test;

namespace {

const std::vector<std::string> kProgram = {"matmul.tc", "-s", "M=37", "-s", "N=29", "-s", "K=13", "--db", "t.db"};

std::vector<std::string> tune(std::vector<std::string> more) {
  std::vector<std::string> arguments{"tune"};
  arguments.insert(arguments.end(), kProgram.begin(), kProgram.end());
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

nlohmann::json shown(const Sandbox& box) {
  const auto result = box.run({"db", "show", "matmul", "--db", "t.db", "--json"});
  return result.exit_code == 0 ? nlohmann::json::parse(result.out)[0] : nlohmann::json{{"trials", 0}};
}

int searched(const nlohmann::json& row) { return row["trials"].get<int>() - static_cast<int>(row["finals"].size()); }

/// Polls until the session has stored trials; the test's own time limit ends it otherwise.
void wait_for_trials(const Sandbox& box, int count) {
  while (shown(box)["trials"] < count) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

}  // namespace

TEST_CASE("tune stores every trial, says what it found, and repeats for a seed") {
  const Sandbox box;
  const auto result = box.run(tune({"--trials", "8", "--seed", "1"}));
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.err.find("warning") == std::string::npos);
  CHECK(result.err.find('\r') == std::string::npos);  // plain lines now and then, for this is no terminal
  for (const char* part : {"M=37 K=13 N=29", "untuned", "tuned", "of FMA peak", "of bandwidth", "speed-up", "roofline",
                           "8:", "seed      1", "t.db"})
    CHECK(result.out.find(part) != std::string::npos);
  const auto row = shown(box);
  CHECK(searched(row) == 8);
  CHECK(row["sizes"] == nlohmann::json{{"M", 37}, {"N", 29}, {"K", 13}});
  CHECK(row["session_rows"][0]["state"] == "done");
  CHECK(row["session_rows"][0]["seed"] == 1);
  CHECK(row.contains("best"));
  const auto listed = box.run({"db", "list", "--db", "t.db"});
  CHECK(listed.out.find("matmul") != std::string::npos);
  CHECK(box.run({"db", "show", row["id"].get<std::string>(), "--db", "t.db"}).exit_code == 0);
  const auto unknown = box.run({"db", "show", "nothing", "--db", "t.db"});
  CHECK(unknown.exit_code == 1);

  const auto again = box.run(tune({"--trials", "1", "--json"}));
  REQUIRE(again.exit_code == 0);
  const auto summary = nlohmann::json::parse(again.out);
  CHECK(summary["seed"].is_number());
  CHECK(summary["tuned"]["median_ns"] > 0);
}

TEST_CASE("strategies are stored, and replayed on what they recorded") {
  const Sandbox box;
  const auto tuned = box.run(tune({"--trials", "12", "--seed", "1", "--strategy", "random", "--json"}));
  INFO(tuned.err);
  REQUIRE(tuned.exit_code == 0);
  const auto summary = nlohmann::json::parse(tuned.out);
  CHECK(summary["strategy"] == "random");
  CHECK_FALSE(summary.contains("model"));
  CHECK(summary["history"].back()["trials"] == 12);
  // A second session knows the first one's trials: its model is at work at once.
  const auto guided = box.run(tune({"--trials", "9", "--seed", "2", "--json"}));
  REQUIRE(guided.exit_code == 0);
  CHECK(nlohmann::json::parse(guided.out)["strategy"] == "model");
  CHECK(shown(box)["session_rows"][0]["strategy"] == "random");

  const auto simulated = box.run({"simulate", "matmul", "--db", "t.db", "--seeds", "3", "--trials", "20", "--json"});
  INFO(simulated.err);
  REQUIRE(simulated.exit_code == 0);
  const auto lines = nlohmann::json::parse(simulated.out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0]["strategy"] == "model");
  CHECK(lines[2]["strategy"] == "random");
  for (const auto& line : lines) {
    CHECK(line["sizes"]["M"] == 37);
    CHECK(line["seeds_that_reached_90"] <= 3);
    CHECK(line["median_trials_to_90"] <= line["median_trials_to_95"]);
  }
  const auto table = box.run({"simulate", "--strategy", "genetic", "matmul", "--db", "t.db", "--seeds", "1"});
  CHECK(table.out.find("genetic") != std::string::npos);
  CHECK(table.out.find("  model  ") == std::string::npos);
  for (const char* column :
       {"\nschedules ", "\nbest ", "\ntrials to 90 %, 95 % ", "\npairs ordered ", "\nfastest foreseen "})
    CHECK(table.out.find(column) != std::string::npos);
  CHECK(box.run({"simulate", "product", "--db", "t.db"}).exit_code == 1);
  CHECK(box.run({"simulate", "--db", "t.db"}).err.find("no-recording") != std::string::npos);  // too few trials
}

TEST_CASE("two tuners share one database") {
  const Sandbox box;
  const pid_t first = box.start(tune({"--trials", "4", "--seed", "1"}), "first");
  const pid_t second = box.start(tune({"--trials", "4", "--seed", "2"}), "second");
  const auto one = box.finish(first, "first");
  const auto two = box.finish(second, "second");
  INFO(one.err + two.err);
  CHECK(one.exit_code == 0);
  CHECK(two.exit_code == 0);
  const auto row = shown(box);
  CHECK(row["sessions"] == 2);
  CHECK(row["outcomes"].size() > 0);
}

TEST_CASE("a killed tuner is resumed with its seed and what its budget leaves") {
  const Sandbox box;
  const pid_t killed = box.start(tune({"--trials", "12", "--seed", "3"}), "killed");
  wait_for_trials(box, 2);
  kill(killed, SIGKILL);
  CHECK(box.finish(killed, "killed").signal == SIGKILL);
  const int before = shown(box)["trials"];
  REQUIRE(before < 12);
  const auto resumed = box.run(tune({"--resume"}));
  INFO(resumed.err);
  REQUIRE(resumed.exit_code == 0);
  CHECK(resumed.out.find("from the resumed session") != std::string::npos);
  CHECK(resumed.out.find("seed      3") != std::string::npos);
  const auto row = shown(box);
  CHECK(row["sessions"] == 1);
  CHECK(searched(row) == 12);
  CHECK(row["session_rows"][0]["state"] == "done");
  const auto nothing = box.run(tune({"--resume", "--trials", "1"}));
  CHECK(nothing.exit_code == 0);
  CHECK(nothing.err.find("no unfinished session") != std::string::npos);
}

TEST_CASE("a resumed session's trials that the program cannot have make it begin anew") {
  namespace db = tile_tune::db;
  const Sandbox box;
  REQUIRE(box.run(tune({"--trials", "1", "--seed", "1"})).exit_code == 0);
  REQUIRE(box.run({"tune", "matvec.tc", "-s", "R=31", "-s", "C=37", "--trials", "1", "--seed", "1", "--db", "t.db"})
              .exit_code == 0);
  {
    auto database = db::Database::open(box.path("t.db"), db::Mode::ReadWrite);
    REQUIRE(database);
    const auto rows = *database->recorded();
    const auto& own = rows[0].program.name == "matmul" ? rows[0] : rows[1];
    const auto& other = rows[0].program.name == "matmul" ? rows[1] : rows[0];
    db::SessionRow unfinished;
    unfinished.strategy = "model";
    unfinished.options_json = "{}";
    unfinished.budget_json = R"({"trials":"many","seconds":0.5})";
    const auto session = database->begin_session(own.program, own.target, own.tool, unfinished);
    REQUIRE(session);
    auto trial = database->trials_of(other.program, other.target, other.tool)->front().trial;
    trial.origin = "prior";
    trial.chosen = false;
    REQUIRE(database->append_trial(*session, trial));
    trial.sequence = 1;
    trial.schedule_json = "[]";
    trial.schedule_id = tile_tune::base::sha256_hex(trial.schedule_json);
    REQUIRE(database->append_trial(*session, trial));
    REQUIRE(database->finish_session(*session, "aborted"));
  }
  const auto resumed = box.run(tune({"--resume", "--trials", "1"}));
  INFO(resumed.err);
  CHECK(resumed.exit_code == 0);
  CHECK(resumed.err.find("a new one begins") != std::string::npos);
}

TEST_CASE("a dry run says how large the search is and changes nothing") {
  const Sandbox box;
  const auto plan = box.run(tune({"--dry-run", "--trials", "100", "--json"}));
  INFO(plan.err);
  REQUIRE(plan.exit_code == 0);
  const auto json = nlohmann::json::parse(plan.out);
  CHECK(json["log10_schedules"] > 3);
  CHECK(json["log10_schedules"] < 30);
  double sum = 0;
  for (const auto& [group, size] : json["log10_choices"].items()) sum += size.get<double>();
  CHECK(sum == Approx(json["log10_schedules"].get<double>()));
  CHECK(json["log10_choices"]["tiles"] > 1);
  CHECK(json["log10_choices"]["place"] == 0);  // one statement
  CHECK(json["budget"] == nlohmann::json{{"trials", 100}});
  CHECK(json["seconds"][0] < json["seconds"][1]);
  CHECK(json["stored_best"].is_null());
  CHECK_FALSE(std::filesystem::exists(box.path("t.db")));
  const auto text = box.run(tune({"--dry-run"}));
  CHECK(text.out.find("60 s") != std::string::npos);
  CHECK(text.out.find("about 10^") != std::string::npos);
  CHECK(text.out.find(", tiles 10^") != std::string::npos);
  CHECK(text.err.find("note: a dry run makes none") != std::string::npos);
  REQUIRE(box.run(tune({"--trials", "3", "--seed", "1"})).exit_code == 0);
  const auto known = nlohmann::json::parse(box.run(tune({"--dry-run", "--trials", "10", "--json"})).out);
  CHECK(known["stored_best"] == "exact");
  CHECK(known["stored_trials"] > 3);
  CHECK(known["measured"] == true);
  CHECK(known["seconds"][0] == known["seconds"][1]);
  CHECK(shown(box)["sessions"] == 1);
}

TEST_CASE("a given schedule is tried first, and timed beside the others") {
  const Sandbox box;
  REQUIRE(box.run(tune({"--trials", "6", "--seed", "1", "--strategy", "random"})).exit_code == 0);
  const auto explained = box.run({"explain", "matmul.tc", "-s", "M=37", "-s", "N=29", "-s", "K=13", "--db", "t.db",
                                  "--what", "schedule", "--json"});
  REQUIRE(explained.exit_code == 0);
  auto schedule = nlohmann::json::parse(explained.out)["schedule"];
  schedule["stages"][0]["reduction_unroll"] = {13};
  box.write("mine.json", schedule.dump());
  const auto given = box.run({"tune", "matmul.tc", "-s", "M=37", "-s", "N=29", "-s", "K=13", "--db", "given.db",
                              "--trials", "2", "--seed", "1", "--schedule", "mine.json", "--json"});
  INFO(given.err);
  REQUIRE(given.exit_code == 0);
  CHECK(nlohmann::json::parse(given.out)["trials"] == 2);
  const auto trials = box.run({"db", "export", "--db", "given.db"}).out;
  CHECK(trials.find("\"origin\":\"prior\"") != std::string::npos);
  box.write("bad.json", "{}");
  CHECK(box.run(tune({"--trials", "2", "--schedule", "bad.json"})).exit_code == 2);
  CHECK(box.run(tune({"--trials", "2", "--schedule", "missing.json"})).exit_code == 1);
  const auto bench =
      box.run({"bench", "matmul.tc", "-s", "M=37", "-s", "N=29", "-s", "K=13", "--db", "t.db", "--schedule",
               "mine.json", "--against", "none", "--rounds", "3", "--time", "0.01", "--json"});
  INFO(bench.err);
  REQUIRE(bench.exit_code == 0);
  const auto row = nlohmann::json::parse(bench.out)["workloads"][0];
  CHECK(row["given_over_default"]["median"] > 0);
  CHECK(row["given_over_tuned"]["median"] > 0);
}

TEST_CASE("Ctrl-C, SIGTERM and SIGHUP end a search with codes of their own and keep its trials") {
  const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
  const Sandbox box;
  const pid_t tuner = box.start(tune({"--time", "300", "--seed", "4"}), "stopped");
  wait_for_trials(box, 1);
  kill(tuner, signal);
  const auto stopped = box.finish(tuner, "stopped");
  INFO(stopped.err);
  CHECK(stopped.exit_code == 128 + signal);
  CHECK(stopped.out.find("best so far") != std::string::npos);
  const std::string name = signal == SIGINT ? "Ctrl-C" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
  CHECK(stopped.out.find("by " + name +
                         "; the trials are kept, and the same command goes on with --resume in place of "
                         "--seed, --schedule and --strategy") != std::string::npos);
  const auto row = shown(box);
  CHECK(row["trials"] >= 1);
  CHECK(row["session_rows"][0]["state"] == "aborted");
}

TEST_CASE("a search that is stopped before its first candidate says that nothing was learned") {
  const Sandbox box;
  const pid_t tuner = box.start(tune({"--time", "300"}), "stopped");
  // Once there is a database the search is about to begin, and a signal no longer ends the process at once.
  while (!std::filesystem::exists(box.path("t.db"))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(tuner, SIGTERM);
  const auto stopped = box.finish(tuner, "stopped");
  INFO(stopped.err + stopped.out);
  CHECK(stopped.exit_code == 143);
  const std::string words = stopped.err + stopped.out;
  const auto says = [&](const char* text) { return words.find(text) != std::string::npos; };
  CHECK((says("nothing was learned") || says("goes on with --resume")));
}

TEST_CASE("the JSON of a search says which signal stopped it, whenever that was") {
  const Sandbox box;
  const bool begun = GENERATE(false, true);
  const pid_t tuner = box.start(tune({"--time", "300", "--json"}), "stopped");
  while (!std::filesystem::exists(box.path("t.db"))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (begun) wait_for_trials(box, 1);
  kill(tuner, SIGTERM);
  const auto stopped = box.finish(tuner, "stopped");
  INFO(stopped.err + stopped.out);
  CHECK(stopped.exit_code == 143);
  CHECK(nlohmann::json::parse(stopped.out)["stopped_by"] == "SIGTERM");
}

TEST_CASE("db recheck and bench say how far they came when they are stopped") {
  const Sandbox box;
  REQUIRE(box.run(tune({"--trials", "1"})).exit_code == 0);
  // With a worker at work a signal no longer ends the process at once.
  const auto stop_at_work = [&](const std::vector<std::string>& arguments, int signal) {
    const pid_t process = box.start(arguments, "stopped");
    Sandbox::child_of(process);
    kill(process, signal);
    return box.finish(process, "stopped");
  };
  const auto verify = stop_at_work({"db", "recheck", "--db", "t.db"}, SIGINT);
  INFO(verify.out + verify.err);
  CHECK(verify.exit_code == 130);
  CHECK(verify.out.find("stopped by Ctrl-C after ") != std::string::npos);
  CHECK(verify.out.find(" and 0 of 1 program; the others were not looked at") != std::string::npos);
  const auto bench = stop_at_work(
      {"bench", "matmul.tc", "-s", "M=37", "-s", "N=29", "-s", "K=13", "--db", "t.db", "--against", "none"}, SIGTERM);
  INFO(bench.out + bench.err);
  CHECK(bench.exit_code == 143);
  CHECK(bench.err.find("stopped by SIGTERM: 0 of 1 workload measured, nothing is stored") != std::string::npos);
}

TEST_CASE("a time far too short for the default schedule leaves it standing, in time") {
  const Sandbox box;
  const auto start = std::chrono::steady_clock::now();
  const auto result = box.run({"tune", "einsum:ik,kj->ij", "-s", "i=1024", "-s", "k=4096", "-s", "j=8192", "--time",
                               "0.5", "--threads", "2", "--db", "t.db", "--json"});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(seconds < 8.5 + 8);  // with allowance for a machine that does other things, too
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json["stop_reason"] == "time");
  CHECK((json["finals"] == "no-time" || json["finals"] == "one-finalist"));
}

// scripts/tile-tune builds before it becomes the tool, which takes minutes the first time.
TEST_CASE("what a script did before it became the tool takes nothing of --time") {
  const Sandbox box;
  const auto result = box.run_program({"sh", "-c", "sleep 30; exec \"$@\"", "sh", Sandbox::tool(), "tune", "matvec.tc",
                                       "-s", "R=31,C=37", "--time", "30", "--trials", "4", "--db", "t.db", "--json"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  // The default schedule is measured even where the time is over; of the others some may be slow.
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json["stop_reason"] == "trials");
  CHECK(json["trials"] == 4);
}

TEST_CASE("a budget of one trial has no finals, and says so") {
  const Sandbox box;
  const auto result = box.run(tune({"--trials", "1"}));
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("none, since only the default schedule could take part") != std::string::npos);
  CHECK(result.out.find("it is probed in finals") != std::string::npos);
  const auto again = box.run({"tune", "matvec.tc", "-s", "R=31", "-s", "C=37", "--trials", "1", "--json"});
  const auto json = nlohmann::json::parse(again.out);
  CHECK(json["finals"] == "one-finalist");
  CHECK(json["tuned"]["ratio"] == 1);
}

TEST_CASE("more threads than CPUs draw a warning") {
  const Sandbox box;
  const auto many = box.run(tune({"--dry-run", "--threads", "256"}));
  CHECK(many.exit_code == 0);
  CHECK(many.err.find("--threads 256 is more than the ") != std::string::npos);
  CHECK(box.run(tune({"--dry-run", "--threads", "1"})).err.find("is more than") == std::string::npos);
}

TEST_CASE("what is fast with cold caches is stored apart from what is fast with hot ones") {
  const Sandbox box;
  const auto tuned = box.run(tune({"--trials", "2", "--objective", "cold"}));
  REQUIRE(tuned.exit_code == 0);
  CHECK(tuned.out.find("f32,f32->f32  row, cold  (") != std::string::npos);
  CHECK(shown(box)["layout"] == "row, cold");
  const auto choice_for = [&](const std::string& objective) {
    std::vector<std::string> arguments{"explain", "--what", "schedule", "--objective", objective};
    arguments.insert(arguments.end(), kProgram.begin(), kProgram.end());
    return box.run(arguments);
  };
  CHECK(choice_for("hot").err.find("is not tuned") != std::string::npos);
  const auto cold = choice_for("cold");
  CHECK(cold.exit_code == 0);
  CHECK(cold.err.find("is not tuned") == std::string::npos);
  CHECK(box.run(tune({"--trials", "1", "--objective", "warm"})).exit_code == 2);
}

TEST_CASE("a suite is tuned workload by workload, told of in one table, and resumed where it was left") {
  const Sandbox box;
  box.write("suite.json", R"({"kind": "suite", "format": 1, "name": "three", "workloads": [
    {"name": "first", "group": "small", "einsum": "ij,jk->ik", "sizes": {"i": 5, "j": 7, "k": 9}, "weights": ["in1"]},
    {"name": "huge", "group": "large", "einsum": "ij->ij", "sizes": {"i": 10000000, "j": 10000000}},
    {"name": "last", "group": "small", "einsum": "i->", "sizes": {"i": 50}}]})");
  const std::vector<std::string> tune{"tune", "suite.json", "--db", "t.db", "--trials", "1", "--seed", "1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), tune.begin(), tune.end());
    return box.run(more);
  };
  const auto all = with({});
  CHECK(all.exit_code == 1);
  CHECK(all.err.find("of memory are free here") != std::string::npos);
  CHECK(all.err.find("1 of the suite's 3 workloads was not tuned") != std::string::npos);
  const auto table = all.out.substr(std::min(all.out.find("workload  "), all.out.size()));
  for (const char* part : {"first", "huge", "last", "geometric mean of the speed-ups: "})
    CHECK(table.find(part) != std::string::npos);

  const auto packed = with({"--only", "first", "--weights", "--json"});
  REQUIRE(packed.exit_code == 0);
  const auto json = nlohmann::json::parse(packed.out);
  CHECK(json["tuned"] == 2);
  CHECK(json["failed"].empty());
  REQUIRE(json["workloads"].size() == 2);
  CHECK(json["workloads"][0]["content_hash"] == json["workloads"][1]["content_hash"]);
  CHECK(with({"--only", "nobody"}).exit_code == 2);

  // What has a finished session is left alone; the program that never had one begins.
  const auto resumed = box.run(
      {"tune", "suite.json", "--db", "t.db", "--trials", "1", "--resume", "--only", "small", "--weights", "--json"});
  REQUIRE(resumed.exit_code == 0);
  CHECK(nlohmann::json::parse(resumed.out)["skipped"] == nlohmann::json{"first", "first, weights packed", "last"});
  CHECK(resumed.err.empty());
}

TEST_CASE("several programs are tuned one after the other, each with the sizes it has") {
  const Sandbox box;
  const auto tuned = box.run({"tune",     "matvec.tc", "einsum:ij,jk->ik",
                              "-s",       "R=5",       "-s",
                              "C=7",      "-s",        "i=3",
                              "-s",       "j=4",       "-s",
                              "k=5",      "--db",      "t.db",
                              "--trials", "1",         "--seed",
                              "1",        "--emit",    "out",
                              "--json"});
  INFO(tuned.err);
  REQUIRE(tuned.exit_code == 0);
  const auto json = nlohmann::json::parse(tuned.out);
  CHECK(json["tuned"] == 2);
  CHECK(box.names("out/include") == std::vector<std::string>{"einsum.h", "einsum.hpp", "matvec.h", "matvec.hpp"});
  const auto twice =
      box.run({"tune", "einsum:ij->i", "einsum:ij->j", "-s", "i=3", "-s", "j=4", "--trials", "1", "--emit", "other"});
  CHECK(twice.exit_code == 2);
  CHECK(twice.err.find("[duplicate-function]") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(box.path("other")));
}

TEST_CASE("what would stop any of several programs is found before the first is tuned") {
  const Sandbox box;
  box.write("file", "");
  std::filesystem::create_directories(box.path("half/lib/pkgconfig"));
  box.write("half/include", "");
  const std::vector<std::string> two{"tune", "matvec.tc", "matmul.tc", "--db", "t.db", "--trials",
                                     "1",    "-s",        "R=5",       "-s",   "C=7"};
  const auto with = [&](std::vector<std::string> more) {
    auto command = two;
    command.insert(command.end(), more.begin(), more.end());
    return box.run(command);
  };
  const auto missing = with({"-s", "M=3"});
  CHECK(missing.exit_code == 3);
  CHECK(missing.err.find("no value for sizes K, N of 'matmul'") != std::string::npos);
  const auto huge = with({"-s", "M=4000000000", "-s", "N=3", "-s", "K=5"});
  CHECK(huge.exit_code == 3);
  CHECK(huge.err.find("matmul: ") != std::string::npos);
  std::filesystem::create_directories(box.path("a/lib/libmatmul.a"));
  std::filesystem::create_directories(box.path("b/include/matvec.hpp"));
  std::filesystem::create_directories(box.path("c/share/matmul/manifest.json"));
  for (const char* folder : {"file", "file/below", "half", "/proc/none", "a", "b", "c"}) {
    const auto ran = with({"-s", "M=3", "-s", "N=3", "-s", "K=5", "--emit", folder});
    INFO(folder << ": " << ran.err);
    CHECK(ran.exit_code == 1);
    CHECK(ran.err.find("[cannot-write]") != std::string::npos);
    CHECK(ran.out.empty());
  }
  CHECK_FALSE(std::filesystem::exists(box.path("t.db")));
}
