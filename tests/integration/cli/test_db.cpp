// tile-tune db list, show, diff, export, import, merge, stats, prune; stacked databases.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <thread>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "db/database.h"
#include "db_commands.h"
#include "frontend/ir/canonical.h"

using namespace tile_tune::test;
namespace db = tile_tune::db;

namespace {

/// The demands of both published schemas (engine/records/t4.h), field by field.
void check_t4(const nlohmann::json& t4) {
  REQUIRE(t4.is_object());
  CHECK(std::regex_match(t4.at("schema_version").get<std::string>(), std::regex("[0-9]+\\.[0-9]+\\.[0-9]+")));
  const auto& metadata = t4.at("metadata");
  for (const char* text : {"platform", "device", "autotuner", "autotuner_version", "timestamp"})
    CHECK(metadata.at(text).is_string());
  CHECK(metadata.at("timeunit") == "milliseconds");
  CHECK_FALSE(metadata.contains("compute_api"));  // of OpenCL, CUDA and Vulkan
  REQUIRE(t4.at("results").is_array());
  const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)");
  const std::set<std::string> words{"timeout", "compile", "runtime", "correctness", "constraints", "correct"};
  for (const auto& result : t4["results"]) {
    CHECK(std::regex_match(result.at("timestamp").get<std::string>(), time));
    CHECK(result.at("configuration").is_object());
    CHECK_FALSE(result["configuration"].empty());
    for (const auto& value : result["configuration"]) CHECK((value.is_number() || value.is_boolean()));
    CHECK(result.at("objectives") == nlohmann::json::array({"time"}));
    CHECK(result.at("times").at("compilation_time").is_number());
    CHECK(result["times"].at("runtimes").is_array());
    for (const auto& value : result["times"]["runtimes"]) CHECK(value.is_number());
    CHECK(words.contains(result.at("invalidity")));
    CHECK((result.at("correctness") == 0 || result["correctness"] == 1));
    int objectives = 0;
    for (const auto& one : result.at("measurements")) {
      CHECK(one.at("name").is_string());
      CHECK((one.at("value").is_number() || one["value"].is_string()));
      CHECK(one.at("unit").is_string());
      objectives += one["name"] == "time";
    }
    CHECK(objectives == 1);
  }
}

/// One session of a program that is none: one finalist for each of `ratios` (else for `ratio`), of a schedule that goes
/// by it. That of `ratio` is chosen, unless it is 0, which means not timed.
void store(const Sandbox& box, const std::string& file, const std::string& name, const std::string& frontend,
           double ratio, int64_t created_ms, int threads = 2, std::vector<double> ratios = {}) {
  auto database = db::Database::open(box.path(file), db::Mode::ReadWrite);
  REQUIRE(database);
  db::ProgramRow program;
  program.content_hash = tile_tune::base::sha256_hex(name);
  program.family_hash = tile_tune::base::sha256_hex(name + " family");
  program.name = name;
  program.frontend = frontend;
  program.source = frontend == "einsum" ? "ij,jk->ik" : name;
  program.canonical_json = program.sizes_json = "{}";
  program.dtypes = "f32->f32";
  program.layout = "row";
  db::SessionRow session;
  session.created_ms = created_ms;
  db::TargetRow target;
  target.machine.threads = threads;
  const auto run = database->begin_session(program, target, {"0.1.0", "21", "21", 1, 1}, session);
  REQUIRE(run);
  if (ratios.empty()) ratios = {ratio};
  for (size_t i = 0; i < ratios.size(); ++i) {
    db::TrialRow trial;
    trial.sequence = static_cast<int>(i);
    trial.origin = "final";
    trial.outcome = "ok";
    trial.schedule_json = nlohmann::json{{"ratio", ratios[i]}}.dump();
    trial.schedule_id = tile_tune::base::sha256_hex(trial.schedule_json);
    trial.ratio = trial.ratio_lo = trial.ratio_hi = ratios[i];
    trial.median_ns = ratios[i] > 0 ? 1e6 / ratios[i] : 0;
    trial.created_ms = created_ms + static_cast<int64_t>(i);
    trial.chosen = ratios[i] > 0 && ratios[i] == ratio;
    REQUIRE(database->append_trial(*run, trial));
  }
  REQUIRE(database->finish_session(*run, "done"));
}

}  // namespace

TEST_CASE("export, import and merge carry what was tuned to another database") {
  const Sandbox box;
  tune(box, "a.db");
  tune(box, "b.db", "2");
  REQUIRE(box.run({"db", "export", "--db", "a.db", "-o", "a.jsonl"}).exit_code == 0);
  CHECK(box.run({"db", "export", "--db", "a.db"}).out == box.read("a.jsonl"));
  const auto imported = json_of(box.run({"db", "import", "a.jsonl", "--db", "c.db", "--json"}));
  CHECK(imported["refused"].empty());
  CHECK(imported["added"] > 6);
  CHECK(box.run({"db", "export", "--db", "c.db"}).out == box.read("a.jsonl"));
  CHECK(rung(box, {"c.db"}) == "exact");
  REQUIRE(box.run({"db", "merge", "a.db", "b.db", "--db", "ab.db"}).exit_code == 0);
  REQUIRE(box.run({"db", "merge", "b.db", "a.db", "--db", "ba.db"}).exit_code == 0);
  const auto merged = box.run({"db", "export", "--db", "ab.db"}).out;
  CHECK(merged == box.run({"db", "export", "--db", "ba.db"}).out);
  CHECK(json_of(box.run({"db", "merge", "a.db", "--db", "ab.db", "--json"}))["added"] == 0);
  CHECK(box.run({"db", "export", "--db", "ab.db"}).out == merged);
}

TEST_CASE("import takes in what is good and fails for what is refused") {
  const Sandbox box;
  tune(box, "a.db");
  REQUIRE(box.run({"db", "export", "--db", "a.db", "-o", "a.jsonl"}).exit_code == 0);
  auto text = box.read("a.jsonl");
  const auto at = text.find("\"compile_ms\":");
  REQUIRE(at != std::string::npos);
  text.insert(at + 13, "1");  // its digest now says otherwise
  box.write("bad.jsonl", text);
  const auto imported = box.run({"db", "import", "bad.jsonl", "--db", "b.db", "--json"});
  CHECK(imported.exit_code == 1);
  const auto told = nlohmann::json::parse(imported.out);
  CHECK(told["refused"].size() >= 1);
  CHECK(told["added"] > 3);
  const auto one = box.run({"db", "import", "bad.jsonl", "--db", "c.db"});
  CHECK(one.err.find(" was left out: its content does not match its digest [refused-record]") != std::string::npos);
  // What is true of many is said once.
  const std::regex outcome("\"outcome\":\"[a-z]+\"");
  box.write("worse.jsonl", std::regex_replace(box.read("a.jsonl"), outcome, "\"outcome\":\"timeout\""));
  const auto many = box.run({"db", "import", "worse.jsonl", "--db", "d.db"});
  INFO(many.err);
  CHECK(many.exit_code == 1);
  const std::regex sentence(
      "warning: [0-9]+ records were left out, each because its content does not match its digest \\(trial "
      "[0-9a-f]+ \\(worse.jsonl:[0-9]+\\), trial ");
  CHECK(std::regex_search(many.err, sentence));
  const std::string why = "does not match its digest";
  CHECK(many.err.find(why) == many.err.rfind(why));
}

TEST_CASE("list, show and export read all the databases they are given") {
  const Sandbox box;
  tune(box, "a.db");
  tune(box, "b.db", "2");
  REQUIRE(run(box, "tune", {"--trials", "1", "--seed", "3", "--db", "b.db"},
              {"matmul.tc", "-s", "M=5", "-s", "N=6", "-s", "K=7"})
              .exit_code == 0);
  const auto listed = json_of(box.run({"db", "list", "--db", "a.db", "--db", "b.db", "--json"}));
  REQUIRE(listed.size() == 3);
  CHECK(listed[0]["database"] == "a.db");
  CHECK(listed[1]["database"] == "b.db");
  CHECK(listed[2]["database"] == "b.db");
  const auto table = box.run({"db", "list", "--db", "a.db", "--db", "b.db"}).out;
  CHECK(table.find("a.db") < table.find("b.db"));
  CHECK(json_of(box.run({"db", "show", "matvec", "--db", "a.db", "--db", "b.db", "--json"})).size() == 2);
  CHECK(json_of(box.run({"db", "show", "matmul", "--db", "a.db", "--db", "b.db", "--json"})).size() == 1);
  CHECK(box.run({"db", "show", "nothing", "--db", "a.db", "--db", "b.db"}).exit_code == 1);
  // As if they had been merged first.
  REQUIRE(box.run({"db", "merge", "a.db", "b.db", "--db", "ab.db"}).exit_code == 0);
  const auto merged = box.run({"db", "export", "--db", "ab.db"}).out;
  CHECK(box.run({"db", "export", "--db", "a.db", "--db", "b.db"}).out == merged);
  CHECK(box.run({"db", "export", "--db", "b.db", "--db", "a.db", "--db", "b.db"}).out == merged);
}

TEST_CASE("list chooses and sorts lines, says once what they share, and shows einsums by their subscripts") {
  const Sandbox box;
  store(box, "a.db", "matmul", "tc", 1.5, 1'000);
  store(box, "a.db", "einsum", "einsum", 3, 2'000);
  store(box, "a.db", "conv", "tc", 2, 3'000, 1);
  const auto names = [&](Words more) {
    more.insert(more.begin(), {"db", "list", "--db", "a.db", "--json"});
    Words found;
    for (const auto& row : json_of(box.run(more))) found.push_back(row["name"]);
    return found;
  };
  CHECK(names({}) == Words{"conv", "einsum", "matmul"});  // the latest first
  CHECK(names({"--sort", "program"}) == Words{"conv", "einsum", "matmul"});
  CHECK(names({"--sort", "speed-up"}) == Words{"einsum", "conv", "matmul"});
  CHECK(names({"--sort", "speed-up", "--reverse"}) == Words{"matmul", "conv", "einsum"});
  CHECK(names({"MAT"}) == Words{"matmul"});
  CHECK(names({"ij,jk"}) == Words{"einsum"});
  CHECK(names({"--threads", "1"}) == Words{"conv"});
  CHECK(names({"--target", "x86-64-linux-avx2"}).empty());
  CHECK(names({"--target", "x86-64-linux"}).size() == 3);
  CHECK(box.run({"db", "list", "--db", "a.db", "--sort", "colour"}).exit_code == 2);
  CHECK(box.run({"db", "list", "nothing", "--db", "a.db"}).out == "no tuned program fits what was asked for\n");
  const auto text = box.run({"db", "list", "--db", "a.db"}).out;
  CHECK(text.starts_with("in all lines: "));
  CHECK(text.find("target x86-64-linux, layout row, types f32->f32") != std::string::npos);
  CHECK(text.find("  ij,jk->ik  ") != std::string::npos);
  CHECK(box.run({"db", "show", "ij,jk->ik", "--db", "a.db"}).exit_code == 0);
}

TEST_CASE("diff says of each program what two databases take, and which is faster where they were raced") {
  const Sandbox box;
  store(box, "a.db", "same", "tc", 1.5, 1'000);
  store(box, "b.db", "same", "tc", 1.5, 2'000);
  store(box, "a.db", "raced", "tc", 1.5, 1'000);
  store(box, "b.db", "raced", "tc", 3, 2'000, 2, {1.5, 3});  // its finals had both schedules
  store(box, "a.db", "apart", "tc", 1.5, 1'000);
  store(box, "b.db", "apart", "tc", 3, 2'000);
  store(box, "a.db", "mine", "tc", 1.5, 1'000);
  store(box, "b.db", "yours", "tc", 1.5, 1'000);
  std::map<std::string, nlohmann::json> lines;
  for (const auto& line : json_of(box.run({"db", "diff", "a.db", "b.db", "--json"}))) lines[line["name"]] = line;
  REQUIRE(lines.size() == 5);
  CHECK(lines["same"]["same_schedule"] == true);
  CHECK(lines["same"]["faster"] == "neither");
  CHECK(lines["raced"]["faster"] == "b");
  CHECK(lines["raced"]["raced"]["database"] == "b.db");
  CHECK(lines["raced"]["raced"]["a"]["ratio"] == 1.5);
  CHECK(lines["apart"]["faster"].is_null());  // times of different runs do not compare
  CHECK(lines["apart"]["raced"].is_null());
  CHECK(lines["apart"]["b"]["ratio"] == 3);
  CHECK(lines["mine"]["b"].is_null());
  CHECK(lines["yours"]["a"].is_null());
  const auto text = box.run({"db", "diff", "a.db", "b.db"}).out;
  CHECK(text.find("b 2.00x") != std::string::npos);
  CHECK(text.find(
            "1 the same schedule, 2 others (a faster 0, b 1, neither 0, never raced 1), 1 only in a, 1 only in b\n") !=
        std::string::npos);
  const auto back = json_of(box.run({"db", "diff", "b.db", "a.db", "--json"}));
  for (const auto& line : back)
    if (line["name"] == "raced") CHECK(line["faster"] == "a");
  CHECK(box.run({"db", "diff", "a.db", "none.db"}).exit_code == 1);
  CHECK(box.run({"db", "diff", "a.db"}).exit_code == 2);
}

TEST_CASE("export --winners hands out what is taken, and that alone") {
  const Sandbox box;
  tune(box, "a.db");
  choose(box, "a.db", [](nlohmann::json& schedule) { schedule["stages"][0]["reduction_unroll"] = {2}; });
  REQUIRE(box.run({"db", "export", "--winners", "--db", "a.db", "-o", "w.jsonl"}).exit_code == 0);
  CHECK(box.read("w.jsonl").size() < box.run({"db", "export", "--db", "a.db"}).out.size());
  REQUIRE(box.run({"db", "import", "w.jsonl", "--db", "w.db"}).exit_code == 0);
  CHECK(json_of(box.run({"db", "stats", "--db", "w.db", "--json"}))[0]["trials"] == 1);
  const auto taken = [&](const std::string& file) {
    return json_of(run(box, "explain", {"--what", "schedule", "--json", "--db", file}));
  };
  CHECK(taken("w.db") == taken("a.db"));
  CHECK(box.run({"db", "export", "--winners", "--format", "t4", "--db", "a.db"}).exit_code == 2);
}

TEST_CASE("a finalist that was never timed has no time and no ratio") {
  const Sandbox box;
  store(box, "a.db", "matmul", "tc", 0, 1'000);
  const auto shown = json_of(box.run({"db", "show", "matmul", "--db", "a.db", "--json"}))[0];
  CHECK(shown["finals"][0]["outcome"] == "ok");
  CHECK(shown["finals"][0]["ratio"].is_null());
  CHECK(shown["finals"][0]["ratio_interval"].is_null());
  CHECK_FALSE(shown.contains("best"));
  CHECK(box.run({"db", "show", "matmul", "--db", "a.db"}).out.find("  not timed  ") != std::string::npos);
}

TEST_CASE("trials are exported in the T4 format") {
  const Sandbox box;
  tune(box, "a.db");
  REQUIRE(run(box, "tune", {"--trials", "1", "--seed", "3", "--db", "a.db"},
              {"matmul.tc", "-s", "M=5", "-s", "N=6", "-s", "K=7"})
              .exit_code == 0);
  // Which program is not said.
  const auto several = box.run({"db", "export", "--format", "t4", "--db", "a.db"});
  CHECK(several.exit_code == 1);
  CHECK(several.err.find("[several-programs]") != std::string::npos);
  CHECK(box.run({"db", "export", "--format", "t4", "nothing", "--db", "a.db"}).exit_code == 1);
  CHECK(box.run({"db", "export", "matvec", "--db", "a.db"}).exit_code == 2);
  CHECK(box.run({"db", "export", "--format", "xml", "--db", "a.db"}).exit_code == 2);
  const auto exported = box.run({"db", "export", "--format", "t4", "matvec", "--db", "a.db", "-o", "t4.json"});
  INFO(exported.err);
  REQUIRE(exported.exit_code == 0);
  CHECK(exported.out.empty());
  const auto t4 = nlohmann::json::parse(box.read("t4.json"));
  check_t4(t4);
  CHECK(t4["metadata"]["program"] == "matvec");
  CHECK(t4["metadata"]["sizes"] == nlohmann::json{{"R", 31}, {"C", 37}});
  const auto shown = json_of(box.run({"db", "show", "matvec", "--db", "a.db", "--json"}))[0];
  CHECK(t4["results"].size() == shown["trials"]);
  const auto& first = t4["results"][0];
  CHECK(first["invalidity"] == "correct");
  CHECK(first["configuration"]["/stages/0/lanes"].is_number());
  // The same from two databases that hold the same trials.
  std::filesystem::copy_file(box.path("a.db"), box.path("b.db"));
  CHECK(box.run({"db", "export", "--format", "t4", "matvec", "--db", "a.db", "--db", "b.db"}).out ==
        box.read("t4.json"));
}

TEST_CASE("failures are what T4 calls them") {
  const Sandbox box;
  tune(box, "a.db");
  auto database = db::Database::open(box.path("a.db"), db::Mode::ReadWrite);
  REQUIRE(database);
  const auto row = database->recorded()->front();
  auto trial = database->trials_of(row.program, row.target, row.tool)->front().trial;
  trial.chosen = false;
  trial.origin = "mutation";
  trial.median_ns = trial.ratio = 0;
  trial.samples_ns.clear();
  const auto session = database->begin_session(row.program, row.target, row.tool, {});
  const std::vector<std::pair<std::string, std::string>> words{
      {"crash", "runtime"},         {"run-error", "runtime"}, {"out-of-memory", "runtime"}, {"wrong", "correctness"},
      {"compile-error", "compile"}, {"timeout", "timeout"},   {"slow", "correct"}};
  for (size_t i = 0; i < words.size(); ++i) {
    trial.sequence = static_cast<int>(i);
    trial.outcome = words[i].first;
    trial.created_ms = 9'000'000'000'000'000;  // of the year 287,000
    REQUIRE(database->append_trial(*session, trial));
  }
  REQUIRE(database->finish_session(*session, "done"));
  const auto t4 = json_of(box.run({"db", "export", "--format", "t4", "--db", "a.db"}));
  check_t4(t4);
  const auto& results = t4["results"];
  for (size_t i = 0; i < words.size(); ++i) {
    const auto& one = results[results.size() - words.size() + i];
    CHECK(one["invalidity"] == words[i].second);
    CHECK(one["correctness"] == (words[i].second == "correct" ? 1 : 0));
    CHECK(one["measurements"][0]["value"] == words[i].first);
  }
  CHECK(box.run({"db", "list", "--db", "a.db"}).exit_code == 0);
}

TEST_CASE("an import that is stopped says what it took in, and the same command takes in the rest") {
  const Sandbox box;
  tune(box, "a.db");
  REQUIRE(box.run({"db", "export", "--db", "a.db", "-o", "a.jsonl"}).exit_code == 0);
  const std::string records = box.read("a.jsonl");
  const size_t half = records.find('\n', records.size() / 2) + 1;
  REQUIRE(mkfifo(box.path("pipe").c_str(), 0600) == 0);
  const pid_t import = box.start({"db", "import", "pipe", "--db", "b.db"}, "import");
  std::ofstream pipe(box.path("pipe"));
  pipe << records.substr(0, half) << std::flush;
  while (!std::filesystem::exists(box.path("b.db"))) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(import, SIGTERM);  // which waits for more
  const auto stopped = box.finish(import, "import");
  INFO(stopped.out + stopped.err);
  CHECK(stopped.exit_code == 143);
  CHECK(stopped.out.find(" added, 0 were there already\n") != std::string::npos);
  CHECK(stopped.err == "stopped by SIGTERM: the same command takes in the rest\n");
  pipe.close();
  REQUIRE(box.run({"db", "import", "a.jsonl", "--db", "b.db"}).exit_code == 0);
  CHECK(box.run({"db", "export", "--db", "b.db"}).out == records);
}

TEST_CASE("an export that is stopped says what there is of it, whoever it waits for") {
  const Sandbox box;
  tune(box, "a.db");
  REQUIRE(mkfifo(box.path("pipe").c_str(), 0600) == 0);
  const pid_t waiting = box.start({"db", "export", "--db", "a.db", "-o", "pipe"}, "waiting");
  const std::string database = box.path("a.db");
  const auto has_opened = [&](pid_t process) {
    for (const auto& file : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(file.path(), gone) == database) return true;
    }
    return false;
  };
  while (!has_opened(waiting)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(waiting, SIGTERM);
  const auto stopped = box.finish(waiting, "waiting");
  CHECK(stopped.exit_code == 143);
  CHECK(stopped.err == "stopped by SIGTERM: the records are not all of them\n");
  // A file is there with all of it or not at all, whenever the signal comes.
  const std::string all = box.run({"db", "export", "--db", "a.db"}).out;
  const auto begun = [&] {
    const auto names = box.names();
    return std::any_of(names.begin(), names.end(), [](const auto& name) { return name.starts_with("a.jsonl"); });
  };
  for (int attempt = 0; attempt < 5; ++attempt) {
    const pid_t writing = box.start({"db", "export", "--db", "a.db", "-o", "a.jsonl"}, "writing");
    while (!begun()) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(200 * attempt));
    kill(writing, SIGHUP);
    const auto ended = box.finish(writing, "writing");
    const bool written = std::filesystem::exists(box.path("a.jsonl"));
    INFO(ended.err);
    CHECK((ended.exit_code == 129 || (written && ended.exit_code == 0)));
    if (written)
      CHECK(box.read("a.jsonl") == all);
    else
      CHECK(ended.err == "stopped by SIGHUP: nothing was written\n");
    std::filesystem::remove(box.path("a.jsonl"));
    CHECK_FALSE(begun());
  }
}

TEST_CASE("exchange refuses what is no database or export, and leaves no file behind") {
  const Sandbox box;
  box.write("notes.txt", "dear diary\n");
  CHECK(box.run({"db", "import", "notes.txt", "--db", "n.db"}).err.find("[bad-record-file]") != std::string::npos);
  CHECK(box.run({"db", "import", "missing.jsonl", "--db", "n.db"}).exit_code == 1);
  CHECK(box.run({"db", "import", ".", "--db", "n.db"}).exit_code == 1);
  CHECK(box.run({"db", "import", "/dev/null", "--db", "n.db"}).err.find("[bad-record-file]") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(box.path("n.db")));
  CHECK_FALSE(std::filesystem::exists(box.path("n.db-sessions")));
  CHECK(box.run({"db", "merge", "notes.txt", "--db", "m.db"}).err.find("[not-a-database]") != std::string::npos);
  CHECK(box.run({"db", "merge", "missing.db", "--db", "m.db"}).err.find("[no-database]") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(box.path("m.db")));
  CHECK_FALSE(std::filesystem::exists(box.path("missing.db")));
  CHECK(box.run({"db", "recheck", "--db", "missing.db"}).exit_code == 1);
  CHECK(box.run({"db", "prune", "--db", "missing.db"}).exit_code == 1);
  CHECK_FALSE(std::filesystem::exists(box.path("missing.db")));
  tune(box, "a.db");
  CHECK(box.run({"db", "import", "a.db", "--db", "n.db"}).err.find("[bad-record-file]") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(box.path("n.db")));
  CHECK(box.run({"db", "export", "--db", "a.db", "-o", "no/such/folder/a.jsonl"}).exit_code == 1);
  // A disk that fills up while exporting.
  const auto cut = box.run({"db", "export", "--db", "a.db", "-o", "cut.jsonl"}, 2'000);
  CHECK((cut.exit_code == 1 || cut.signal != 0));
  CHECK_FALSE(std::filesystem::exists(box.path("cut.jsonl")));
}

TEST_CASE("export writes through links, and devices stay what they are") {
  const Sandbox box;
  tune(box, "a.db");
  const auto records = box.run({"db", "export", "--db", "a.db"}).out;
  box.write("real.jsonl", "old\n");
  std::filesystem::create_symlink("real.jsonl", box.path("link.jsonl"));
  CHECK(box.run({"db", "export", "--db", "a.db", "-o", "link.jsonl"}).exit_code == 0);
  CHECK(std::filesystem::is_symlink(box.path("link.jsonl")));
  CHECK(box.read("real.jsonl") == records);
  std::filesystem::create_symlink("/dev/null", box.path("nowhere"));
  CHECK(box.run({"db", "export", "--db", "a.db", "-o", "nowhere"}).exit_code == 0);
  CHECK(std::filesystem::is_symlink(box.path("nowhere")));
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK(box.run({"db", "export", "--db", "a.db", "-o", "."}).exit_code == 1);
  CHECK(box.run_program({"sh", "-c", Sandbox::tool() + " db export --db a.db -o /dev/stdout | cat"}).out == records);
}

TEST_CASE("what differs in the target alone can be told apart, and verify counts what it leaves out") {
  const Sandbox box;
  for (const auto& [threads, more] : {std::pair{"2", Words{}}, std::pair{"2", Words{"--deterministic"}},
                                      std::pair{"1", Words{}}, std::pair{"2", Words{"--target", "x86-64-linux"}}}) {
    Words words{"--trials", "1", "--seed", "1", "--db", "a.db", "--threads", threads};
    words.insert(words.end(), more.begin(), more.end());
    REQUIRE(run(box, "tune", words).exit_code == 0);
  }
  const auto listed = box.run({"db", "list", "--db", "a.db"}).out;
  CHECK(listed.find("threads  target") != std::string::npos);
  // The column stands last where all were tuned in the same minute.
  CHECK(std::regex_search(listed, std::regex(", deterministic(  |\n)")));
  CHECK(std::regex_search(listed, std::regex("  x86-64-linux(  |\n)")));
  CHECK(box.run({"db", "show", "--db", "a.db"}).out.find(", deterministic, ") != std::string::npos);
  // The same program, whatever it was tuned for; here it is tuned, too.
  CHECK(box.run({"db", "recheck", "--db", "a.db", "--threads", "2"})
            .out.find("3 tunings for other targets or numbers of threads are stored and not run\n") !=
        std::string::npos);
  const auto six = box.run({"db", "recheck", "--db", "a.db", "--threads", "6", "--json"});
  CHECK(nlohmann::json::parse(six.out)["elsewhere"] == 4);
}

TEST_CASE("stats count what databases hold") {
  const Sandbox box;
  REQUIRE(box.run({"tune", "matvec.tc", "-s", "R=31", "-s", "C=37", "--trials", "3", "--seed", "1", "--db", "t.db"})
              .exit_code == 0);
  const auto counted = box.run({"db", "stats", "--db", "t.db", "--json"});
  REQUIRE(counted.exit_code == 0);
  const auto json = nlohmann::json::parse(counted.out);
  REQUIRE(json.size() == 1);
  CHECK(json[0]["programs"] == 1);
  CHECK(json[0]["tuned"] == 1);
  CHECK(json[0]["sessions"] == 1);
  CHECK(json[0]["bytes"] >= 4096);
  int64_t sum = 0;
  for (const auto& [outcome, count] : json[0]["outcomes"].items()) sum += count.get<int64_t>();
  CHECK(json[0]["trials"] == sum);
  CHECK(sum >= 4);  // the default and its three, and the finals
  const auto text = box.run({"db", "stats", "--db", "t.db", "--db", "t.db"});
  CHECK(text.out.find("1, 1 of them tuned") != std::string::npos);
  CHECK(box.run({"db", "stats", "--db", "none.db"}).exit_code == 1);
}

TEST_CASE("prune keeps what is used") {
  const Sandbox box;
  tune(box, "a.db");
  const auto before = json_of(box.run({"db", "show", "matvec", "--db", "a.db", "--json"}));
  const auto pruned = json_of(box.run({"db", "prune", "--older-than", "0", "--keep", "1", "--db", "a.db", "--json"}));
  CHECK(pruned["bytes_after"] <= pruned["bytes_before"]);
  const auto after = json_of(box.run({"db", "show", "matvec", "--db", "a.db", "--json"}));
  CHECK(after[0]["best"] == before[0]["best"]);
  CHECK(rung(box, {"a.db"}) == "exact");
}
