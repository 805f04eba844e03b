// Bad input of every kind: its exit code, one clear diagnostic, nothing left behind.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sandbox.h"

using namespace tile_tune::test;

namespace {

struct Bad {
  std::vector<std::string> arguments;
  int exit_code;
  std::string code;     // of the diagnostic
  std::string mention;  // what the message or the note must name
};

void check_bad(const Sandbox& box, const Bad& bad) {
  INFO(nlohmann::json(bad.arguments).dump());
  const auto before = box.names();
  const auto result = box.run(bad.arguments);
  INFO(result.err);
  CHECK(result.exit_code == bad.exit_code);
  CHECK(result.out.empty());
  CHECK(result.err.find("[" + bad.code + "]") != std::string::npos);
  CHECK(result.err.find(bad.mention) != std::string::npos);
  CHECK(result.err.find("error:") == result.err.rfind("error:"));  // one diagnostic
  CHECK(box.names() == before);
}

}  // namespace

TEST_CASE("a wrong command line is exit 2 with one sentence and a hint") {
  const Sandbox box;
  const std::vector<Bad> all = {
      {{}, 2, "command-line", "check, explain, run, tune, simulate, bench, build, db"},
      {{"frobnicate"}, 2, "command-line", "unknown command 'frobnicate'"},
      {{"chekc", "matmul.tc"}, 2, "command-line", "did you mean check? the commands are check, explain"},
      {{"report"}, 2, "command-line", "the command 'report' is not there yet"},
      {{"db"}, 2, "command-line", "list, show"},
      {{"db", "bench"}, 2, "command-line", "unknown command 'bench' of 'db'"},
      {{"db", "frobnicate"}, 2, "command-line", "unknown command 'frobnicate'"},
      {{"--frobnicate"}, 2, "command-line", "unknown option '--frobnicate'"},
      {{"check"}, 2, "command-line", "PROGRAM"},
      {{"check", "matmul.tc", "--frobnicate"}, 2, "command-line", "--frobnicate"},
      {{"check", "matmul.tc", "more.tc"}, 2, "command-line", "more.tc"},
      {{"check", "matmul.tc", "--threads", "0"}, 2, "command-line", "--threads"},
      {{"tune", "matmul.tc", "--trials", "2.5"}, 2, "command-line", "needs a whole number from 1 to "},
      {{"check", "matmul.tc", "--color", "blue"}, 2, "command-line", "--color"},
      {{"check", "matmul.tc", "-s", "M"}, 2, "bad-size", "-s NAME=N"},
      {{"check", "matmul.tc", "-s", "M=1e3"}, 2, "bad-size", "M=1e3"},
      {{"check", "matmul.tc", "-s", "M=99999999999999999999"}, 2, "bad-size", "too large"},
      {{"check", "matmul.tc", "-s", "M=1", "-s", "M=2"}, 2, "bad-size", "M"},
      {{"check", "matmul.tc", "-s", "M=1", "--layout", "diagonal"}, 2, "bad-layout", "diagonal"},
      {{"check", "matmul.tc", "-s", "M=1", "--layout", "Q=col"}, 2, "unknown-tensor", "Q"},
      {{"check", "matmul.tc", "--layout", "4096,1"}, 2, "bad-layout", "NAME=4096,1"},
      {{"check", "matmul.tc", "--layout", "A=1"}, 2, "bad-layout", "A has 2 dimensions, but 1 stride"},
      {{"check", "matmul.tc", "--layout", "A=x,1"},
       2,
       "bad-layout",
       "'x' is neither a storage order nor a size of matmul"},
      {{"check", "matmul.tc", "--layout", "A=99999999999999999999,1"}, 2, "bad-layout", "too large"},
      {{"check", "matmul.tc", "-s", "M=3,K=3,N=3", "--layout", "A=2147483648,1"}, 3, "too-large", "numbers apart"},
      {{"check", "matmul.tc", "-s", "M=3,K=3,N=3", "--layout", "C=2,1"}, 3, "bad-layout", "two elements in one place"},
      {{"build", "matmul.tc", "-s", "M=3,K=3,N=3", "--layout", "C=0,1", "-o", "out"}, 3, "bad-layout", "one place"},
      {{"tune", "matmul.tc", "--trials", "0"}, 2, "command-line", "--trials"},
      {{"tune", "matmul.tc", "--strategy", "annealing"}, 2, "command-line", "annealing"},
      {{"tune", "matmul.tc", "--strategy", "random", "--resume"}, 2, "command-line", "--strategy"},
      {{"simulate", "--strategy", "annealing"}, 2, "command-line", "annealing"},
      {{"simulate", "--seeds", "0"}, 2, "command-line", "--seeds"},
      {{"simulate", "--trials", "0"}, 2, "command-line", "--trials"},
      {{"simulate", "--db", "none.db"}, 1, "no-database", "none.db"},
      {{"build", "matmul.tc", "-s", "M=1", "--constant", "Q", "-o", "out"}, 2, "bad-constant", "no tensor 'Q'"},
      {{"tune", "matmul.tc", "-s", "M=1", "--constant", "C"}, 2, "bad-constant", "C is written"},
      {{"bench", "matmul.tc", "-s", "M=1", "--constant", "C"}, 2, "bad-constant", "its inputs are A, B"},
      {{"check", "matmul.tc", "--layout", "diagonal"}, 2, "bad-layout", "diagonal"},
      {{"check", "matmul.tc", "--layout", "Q=col"}, 2, "unknown-tensor", "Q"},
      {{"tune", "matmul.tc", "--time", "-1"}, 2, "command-line", "--time: needs a positive number of seconds"},
      {{"tune", "matmul.tc", "--time", "0"}, 2, "command-line", "--time: needs a positive number of seconds"},
      {{"tune", "matmul.tc", "--time", "1e300"}, 2, "command-line", "1e9 at most"},
      {{"tune", "matmul.tc", "--time", "inf"}, 2, "command-line", "--time: needs a positive number of seconds"},
      {{"tune", "matmul.tc", "--seed", "-1"}, 2, "command-line", "--seed: needs a whole number from 0"},
      {{"tune", "matmul.tc", "--seed", "18446744073709551616"}, 2, "command-line", "18446744073709551615"},
      {{"tune", "matmul.tc", "--seed", "1", "--resume"}, 2, "command-line", "--resume"},
      {{"run", "matmul.tc", "--output-dir", "out", "--engine", "magic"}, 2, "command-line", "--engine"},
      {{"run", "matmul.tc", "--output-dir", "out", "--input", "A"}, 2, "bad-input", "--input"},
      {{"build", "matmul.tc"}, 2, "command-line", "--output"},
      {{"build", "matmul.tc", "-o", ""}, 2, "command-line", "--output: needs a value that is not empty"},
      {{"build", "matmul.tc", "-o", "out", "--name", ""}, 2, "command-line", "--name"},
      {{"db", "list", "--db", ""}, 2, "command-line", "see tile-tune db list --help"},
      {{"tune", "matmul.tc", "--emit", ""}, 2, "command-line", "--emit"},
  };
  for (const auto& bad : all) check_bad(box, bad);
}

TEST_CASE("a wrong program is exit 2, a missing file exit 1") {
  const Sandbox box;
  box.write("broken.tc", "def f(float(N) A) -> (o) {\n  o(i) = B(i)\n}\n");
  box.write("binary.tc", std::string("\x7f"
                                     "ELF\0\1\2",
                                     7));
  box.write("empty.tc", "");
  box.write("suite.json", R"({"kind": "suite", "workloads": []})");
  box.write("list.json", "[1, 2]");
  box.write("cut.json", "{\"kind\":\n [1, 2");
  box.write("huge.json", "{\"kind\": \"program\",\n \"name\": -1e999}\n");
  box.write("comma.json", "{\n  \"\u00e9\": 1,, \"b\": 2\n}\n");
  std::string defs;
  for (int i = 0; i < 13; ++i) defs += "def f" + std::to_string(i) + "(float(N) A) -> (o) { o(i) = A(i) }\n";
  box.write("many.tc", defs);
  box.write("other.json", R"({"kind": "program", "format": 1})");
  REQUIRE(mkfifo(box.path("pipe.tc").c_str(), 0600) == 0);
  box.write("huge.tc", "");
  std::filesystem::resize_file(box.path("huge.tc"), (16 << 20) + 1);  // a hole: takes no space
  const std::vector<Bad> all = {
      {{"check", "pipe.tc"}, 1, "cannot-open", "pipe.tc: it is not a file"},
      {{"check", "huge.tc"}, 1, "cannot-open", "larger than 16 MiB"},
      {{"check", "broken.tc"}, 2, "undefined-name", "broken.tc:2:10"},
      {{"check", "binary.tc"}, 2, "unsupported-character", "binary.tc:1:1"},
      {{"check", "empty.tc"}, 2, "no-def", "def"},
      {{"check", "suite.json"}, 2, "bad-suite", "\"format\": 1"},
      {{"bench", "matmul.tc", "--max-regression", "3x"}, 2, "command-line", "needs a percentage from 0 up to 100"},
      {{"bench", "matmul.tc", "--since", "old.json"}, 2, "command-line", "--max-regression"},
      {{"bench", "suite.json", "--against", "none"}, 2, "bad-suite", "\"format\": 1"},
      {{"bench", "matmul.tc", "--against", "mkl"}, 2, "no-libraries", "mkl is one of the libraries of --libraries"},
      {{"bench", "matmul.tc", "--libraries", "nowhere"}, 2, "no-libraries", "nowhere holds no libraries"},
      {{"check", "list.json"}, 2, "bad-json", "list.json is not a JSON object"},
      {{"check", "cut.json"}, 2, "bad-json", "cut.json:2:7: error: the file ends inside its JSON value"},
      {{"check", "huge.json"}, 2, "bad-json", "huge.json:2:10: error: this number is too large"},
      {{"check", "comma.json"}, 2, "bad-json", "comma.json:2:10: error: this is not JSON"},
      {{"tune", "many.tc"}, 2, "several-defs", "f8, f9 and 3 others"},
      {{"tune", "matmul.tc", "many.tc"}, 2, "several-defs", "pick one: many.tc:"},
      {{"bench", "many.tc"}, 2, "several-defs", "f8, f9 and 3 others"},
      {{"check", "other.json"}, 2, "malformed-program", "other.json"},
      {{"check", "einsum:ij,jk"}, 2, "no-arrow", "the output is missing"},
      {{"check", "matmul.txt"}, 2, "unknown-program", "FILE.tc"},
      {{"check", "missing.tc"}, 1, "cannot-open", "missing.tc"},
      {{"check", "missing.json"}, 1, "cannot-open", "missing.json"},
      {{"check", "missing.tc:f"}, 1, "cannot-open", "missing.tc"},
      {{"check", "matmul.tc", "--config", "missing.ini"}, 1, "command-line", "missing.ini"},
  };
  for (const auto& bad : all) check_bad(box, bad);
}

TEST_CASE("sizes that do not fit are exit 3") {
  const Sandbox box;
  box.write("window.tc", "def f(float(N) A) -> (o) { o(i) +=! A(i + k) where k in 0:5 }\n");
  const std::vector<Bad> all = {
      {{"check", "matmul.tc", "-s", "M=3"}, 3, "missing-size", "sizes K, N of"},
      {{"check", "matmul.tc", "-s", "Q=5"}, 3, "unknown-size", "the sizes are M, K, N"},
      {{"check", "matmul.tc", "-s", "m=5"}, 3, "unknown-size", "did you mean M?"},
      {{"tune", "matmul.tc", "-s", "m=5"}, 3, "unknown-size", "did you mean M?"},
      {{"check", "matmul.tc", "-s", "M=3", "-s", "N=1", "-s", "K=1", "-s", "Q=1"}, 3, "unknown-size", "Q"},
      {{"check", "matmul.tc", "-s", "M=3", "-s", "N=1", "-s", "K=-1"}, 3, "negative-size", "K"},
      {{"check", "window.tc", "-s", "N=3"}, 3, "empty-range", "i"},
      {{"tune", "matmul.tc", "-s", "M=3"}, 3, "missing-size", "K"},
      {{"build", "matmul.tc", "-o", "out", "-s", "M=3"}, 3, "missing-size", "K"},
  };
  for (const auto& bad : all) check_bad(box, bad);
}

TEST_CASE("tensors larger than the memory are refused by name and size before anything is computed") {
  const Sandbox box;
  box.write("wide.tc", "def f(float(N,N) A) -> (o) { o(i,j) = A(i,j) }\n");
  for (const std::string verb : {"tune", "build"}) {
    std::vector<std::string> command = {verb, "wide.tc", "-s", "N=2000000"};
    if (verb == "build") command.insert(command.end(), {"-o", "out"});
    check_bad(box, {command, 1, "out-of-memory", "A takes 16.0 TB, all tensors together 32.0 TB"});
  }
}

TEST_CASE("sizes that kernels cannot count are exit 3 in every command, whatever the memory") {
  const Sandbox box;
  box.write("long.tc", "def f(float(N) A) -> (o) { o(i) = A(i) }\n");
  box.write("apart.tc", "def f(uint8(B,M,N) A) -> (o) { o(b,i,j) = A(b,i,j) }\n");
  box.write("loop.tc", "def f(float(N) A) -> (o) { o(i) +=! A(i) where k in 0:3000000000 }\n");
  box.write("step.tc", "def f(float(N) A) -> (o) { o(i) = A(3000000 * i) where i in 0:1000 }\n");
  box.write("suite.json", R"({"kind": "suite", "format": 1, "workloads": [{"name": "long", "einsum": "i->i",
                              "sizes": {"i": 3000000000}}]})");
  const std::vector<std::pair<std::vector<std::string>, std::string>> programs = {
      {{"long.tc", "-s", "N=2147483647"}, "dimension 0 of A is 2147483647: kernels count up to 2146435072"},
      {{"long.tc", "-s", "N=2147483648"}, "dimension 0 of A is 2147483648"},
      {{"einsum:ij,jk->ik", "-s", "i=3", "-s", "j=2", "-s", "k=4000000000"}, "dimension 1 of in1 is 4000000000"},
      {{"einsum:i->i", "--dtype", "c32", "-s", "i=9223372036854775807"}, "in0"},
      {{"apart.tc", "-s", "B=2", "-s", "M=65536", "-s", "N=65536"}, "neighbours along dimension 0 of A lie 4294967296"},
      {{"loop.tc", "-s", "N=3"}, "the range of k is [0, 3000000000)"},
      {{"step.tc", "-s", "N=3000000000"}, "dimension 0 of A is 3000000000"}};
  const std::vector<std::vector<std::string>> verbs = {{"check"},
                                                       {"explain"},
                                                       {"explain", "--what", "schedule"},
                                                       {"explain", "--what", "loops"},
                                                       {"tune", "--trials", "1"},
                                                       {"tune", "--dry-run"},
                                                       {"bench"},
                                                       {"build", "-o", "out"}};
  for (const auto& [program, mention] : programs)
    for (auto command : verbs) {
      command.insert(command.begin() + 1, program.begin(), program.end());
      const bool overflows = program[0] == "einsum:i->i";
      check_bad(box, {command, 3, overflows ? "tensor-too-large" : "too-large", mention});
    }
  for (const std::string verb : {"check", "tune", "bench"}) {
    const auto result = box.run({verb, "suite.json"});
    CHECK(result.exit_code == 3);
    CHECK(result.err.find("dimension 0 of in0 is 3000000000") != std::string::npos);
  }
  check_bad(box,
            {{"build", "einsum:ij->i", "-s", "i=5", "-s", "j=4000000000..5000000000", "-o", "out"}, 2, "bad-size", ""});
}

TEST_CASE("option --werror makes warnings about a program errors before any work is begun") {
  const Sandbox box;
  box.write("unused.tc", "def f(float(N) A, float(N) B) -> (o) { o(i) = A(i) }\n");
  box.write("two.tc", "def f(float(N) A, float(N) B, float(N) C) -> (o) { o(i) = A(i) }\n");
  box.write("clean.tc", "def f(float(N) A) -> (o) { o(i) = A(i) }\n");
  box.write("suite.json", R"({"kind": "suite", "format": 1, "workloads": [
      {"name": "first", "einsum": "i->i", "sizes": {"i": 3}},
      {"name": "second", "tc": "def f(float(N) A, float(N) B) -> (o) { o(i) = A(i) }", "sizes": {"N": 3}}]})");
  // 0 <= i < 3 and 0 <= i - 5 < 1: an empty domain, as the eDSL saves it.
  box.write("empty.json", R"({"kind":"program","format":1,"name":"p","sizes":[],
      "tensors":[{"name":"A","type":"f32","extents":[3],"role":"input","layout":"row"},
                 {"name":"O","type":"f32","extents":[3],"role":"output","layout":"row"}],
      "inputs":[0],"outputs":[1],
      "statements":[{"target":1,"subscripts":[{"terms":[[0,1]],"constant":0}],
        "indices":[{"name":"i","lo":0,"hi":0,"reason":""}],
        "constraints":[{"expr":{"terms":[],"constant":-1},"bound":1}],
        "op":"assign","accumulator":"f32",
        "value":{"type":"f32","read":0,"subscripts":[{"terms":[[0,1]],"constant":0}]}}]})");
  const std::vector<std::vector<std::string>> verbs = {{"check"},
                                                       {"explain"},
                                                       {"explain", "--what", "schedule"},
                                                       {"tune", "--trials", "1", "--db", "t.db", "--emit", "out"},
                                                       {"bench"},
                                                       {"build", "-o", "out", "--db", "t.db"},
                                                       {"run", "--output-dir", "out"}};
  for (auto command : verbs) {
    const bool is_run = command[0] == "run";
    command.insert(command.begin() + 1, "unused.tc");
    if (!is_run) command.insert(command.end(), {"-s", "N=3"});
    command.push_back("--werror");
    check_bad(box, {command, 2, "unused-input", "unused.tc:1:28: error: the input 'B' is never read"});
    command.push_back("--quiet");
    check_bad(box, {command, 2, "unused-input", "'B'"});
  }
  const auto json = box.run({"check", "unused.tc", "--werror", "--json"});
  CHECK(json.exit_code == 2);
  const auto said = nlohmann::json::parse(json.err);
  CHECK(said["severity"] == "error");
  CHECK(said["code"] == "unused-input");
  CHECK(said["exit_code"] == 2);
  const auto both = box.run({"check", "two.tc", "--werror"});
  CHECK(both.exit_code == 2);
  CHECK(both.err.find("'B' is never read") < both.err.find("'C' is never read"));
  const auto before = box.names();
  CHECK(box.run({"tune", "suite.json", "--trials", "1", "--db", "t.db", "--werror"}).exit_code == 2);
  CHECK(box.names() == before);
  CHECK(box.run({"check", "unused.tc"}).exit_code == 0);
  CHECK(box.run({"check", "clean.tc", "--werror"}).exit_code == 0);
  const auto empty = box.run({"check", "empty.json"});
  CHECK(empty.exit_code == 0);
  CHECK(empty.err.find("warning: no indices are valid in O(i) = A(i)") != std::string::npos);
  check_bad(box, {{"check", "empty.json", "--werror"}, 2, "empty-domain", "no indices are valid"});
  check_bad(box, {{"tune", "empty.json", "--trials", "1", "--werror"}, 2, "empty-domain", "no indices are valid"});
  // What is said of records and of the machine is none of the program's.
  CHECK(box.run({"explain", "clean.tc", "-s", "N=3", "--what", "schedule", "--werror", "--db", "none.db"}).exit_code ==
        0);
}

TEST_CASE("targets: an unknown word is exit 2, one that this machine lacks exit 5") {
  const Sandbox box;
  const std::vector<std::string> tune = {"tune", "matvec.tc", "-s", "R=3", "-s", "C=5", "--trials", "1", "--target"};
  auto with = [&](const std::string& target) {
    auto arguments = tune;
    arguments.push_back(target);
    return arguments;
  };
  check_bad(box, {with("toaster"), 2, "unknown-target", "toaster"});
  check_bad(box, {with("arm-64-linux"), 5, "target-unavailable", "arm-64-linux"});
  // Also where nothing is compiled.
  for (std::vector<std::string> command : {std::vector<std::string>{"check", "matvec.tc"},
                                           {"explain", "matvec.tc"},
                                           {"run", "matvec.tc", "--output-dir", "out", "--engine", "reference"},
                                           {"simulate"},
                                           {"db", "list"}}) {
    command.insert(command.end(), {"--target", "toaster"});
    check_bad(box, {command, 2, "unknown-target", "toaster"});
    command.back() = "host,toaster";
    check_bad(box, {command, 2, "unknown-target", "toaster"});
  }
  CHECK(box.run({"check", "matvec.tc", "--target", "arm-64-linux"}).exit_code == 0);
  check_bad(box, {{"explain", "matvec.tc", "--layout", "Q=col"}, 2, "unknown-tensor", "Q"});
}

TEST_CASE("databases that are missing, foreign or read-only are exit 1 and stay as they are") {
  const Sandbox box;
  box.write("text.db", "this is no database, but it is long enough to be one: " + std::string(2000, 'x'));
  check_bad(box, {{"db", "list", "--db", "missing.db"}, 1, "no-database", "missing.db"});
  check_bad(box, {{"db", "list"}, 1, "no-database", "tuning.db"});
  check_bad(box, {{"db", "show", "matmul", "--db", "text.db"}, 1, "not-a-database", "text.db"});
  const std::vector<std::string> tune = {"tune", "matvec.tc", "-s", "R=3", "-s", "C=5", "--trials", "1", "--db"};
  auto with = [&](const std::string& file) {
    auto arguments = tune;
    arguments.push_back(file);
    return arguments;
  };
  check_bad(box, {with("text.db"), 1, "not-a-database", "text.db"});
  check_bad(box, {with("matvec.tc/tuning.db"), 1, "cannot-open-database", "matvec.tc"});
  check_bad(box, {with("/proc/tuning.db"), 1, "cannot-open-database", "/proc/tuning.db"});
  check_bad(box, {{"build", "matvec.tc", "-s", "R=3", "-s", "C=5", "-o", "out", "--db", "text.db"},
                  1,
                  "not-a-database",
                  "text.db"});
}

TEST_CASE("without its database a program is untuned, which is a warning that names the file") {
  const Sandbox box;
  box.write("empty.db", "");
  for (const std::string file : {"missing.db", "empty.db"}) {
    for (std::vector<std::string> command : {std::vector<std::string>{"explain", "matvec.tc", "--what", "schedule"},
                                             {"build", "matvec.tc", "-o", "out"}}) {
      command.insert(command.end(), {"-s", "R=3", "-s", "C=5", "--db", file});
      const auto result = box.run(command);
      INFO(result.err);
      CHECK(result.exit_code == 0);
      CHECK(result.err.find("warning: ") == 0);
      CHECK(result.err.find(file) != std::string::npos);
      CHECK(result.err.find("[no-database]") != std::string::npos);
      CHECK(result.err.find("[untuned]") != std::string::npos);
    }
  }
  CHECK(!std::filesystem::exists(box.path("missing.db")));
  CHECK(box.names("out").size() == 3);
}

TEST_CASE("of a missing database many workloads are told once") {
  const Sandbox box;
  box.write("two.json", R"({"kind": "suite", "format": 1, "name": "two", "workloads": [
    {"name": "a", "einsum": "ij->i", "sizes": {"i": 5, "j": 7}, "weights": ["in0"]},
    {"name": "b", "einsum": "ij->ji", "sizes": {"i": 3, "j": 4}}]})");
  const auto times = [&](const std::vector<std::string>& command) {
    const auto result = box.run(command);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    size_t count = 0;
    for (size_t at = 0; (at = result.err.find("[no-database]", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  CHECK(times({"bench", "two.json", "--against", "none", "--rounds", "2", "--time", "0.01", "--db", "none.db"}) == 1);
  CHECK(times({"build", "two.json", "-o", "out", "--db", "none.db"}) == 1);
  CHECK(times({"build", "two.json", "-o", "out", "--db", "none.db", "--recheck"}) == 1);
}

TEST_CASE("a workload that cannot be measured is told of, and the others are") {
  const Sandbox box;
  box.write("mixed.json", R"({"kind": "suite", "format": 1, "name": "mixed", "workloads": [
    {"name": "beyond", "einsum": "ij->j", "sizes": {"i": 7, "j": 1099511627776}},
    {"name": "vast", "einsum": "ij->i", "sizes": {"i": 1099511627776, "j": 7}},
    {"name": "plain", "einsum": "ij->i", "sizes": {"i": 5, "j": 7}}]})");
  const std::vector<std::string> command{"bench", "mixed.json", "--against", "none", "--rounds",
                                         "2",     "--time",     "0.01",      "--db", "none.db"};
  const auto text = box.run(command);
  INFO(text.err);
  CHECK(text.exit_code == 3);
  CHECK(text.out.find("plain") != std::string::npos);
  CHECK(text.out.find("geometric means") != std::string::npos);
  CHECK(text.err.find("error: vast: ") != std::string::npos);
  CHECK(text.err.find("2 of the suite's 3 workloads were not measured") != std::string::npos);
  auto as_json = command;
  as_json.push_back("--json");
  const auto json = nlohmann::json::parse(box.run(as_json).out);
  REQUIRE(json["workloads"].size() == 1);
  CHECK(json["workloads"][0]["name"] == "plain");
  CHECK(json["failed"][0]["name"] == "beyond");
  CHECK_FALSE(json["failed"][0]["reason"].get<std::string>().empty());
}

TEST_CASE("places that cannot be written are exit 1") {
  const Sandbox box;
  check_bad(
      box,
      {{"build", "matvec.tc", "-s", "R=3", "-s", "C=5", "-o", "matvec.tc/out"}, 1, "cannot-write", "matvec.tc/out"});
  check_bad(box,
            {{"tune", "matvec.tc", "-s", "R=3", "-s", "C=5", "--emit", "matvec.tc"}, 1, "cannot-write", "matvec.tc"});
}

TEST_CASE("a file size limit while building ends in one diagnostic and an empty folder") {
  const Sandbox box;
  for (const long limit : {4096l, 12288l}) {
    const auto result = box.run({"build", "matvec.tc", "-s", "R=3", "-s", "C=5", "-o", "out"}, limit);
    INFO(result.err);
    CHECK(result.exit_code == 1);
    CHECK(result.err.find("error:") != std::string::npos);
    CHECK(box.names("out").empty());
  }
}

TEST_CASE("a build that fails leaves another's temporary files in the same folder alone") {
  const Sandbox box;
  const std::vector<std::string> build{"build", "matvec.tc", "-s", "R=3", "-s", "C=5", "-o", "out"};
  const pid_t other = box.start(build, "other");
  CHECK(box.run(build, 4096).exit_code == 1);
  const auto finished = box.finish(other, "other");
  INFO(finished.err);
  CHECK(finished.exit_code == 0);
  CHECK(box.names("out") == std::vector<std::string>{"include", "lib", "share"});
}

TEST_CASE("diagnostics as JSON, also for the command line itself") {
  const Sandbox box;
  box.write("broken.tc", "def f(float(N) A) -> (o) {\n  o(i) = B(i)\n}\n");
  const auto wrong = nlohmann::json::parse(box.run({"check", "broken.tc", "--json"}).err);
  CHECK(wrong["code"] == "undefined-name");
  CHECK(wrong["line"] == 2);
  CHECK(wrong["exit_code"] == 2);
  CHECK(nlohmann::json::parse(box.run({"--json", "frobnicate"}).err)["code"] == "command-line");
}

TEST_CASE("colour only when asked for or on a terminal") {
  const Sandbox box;
  CHECK(box.run({"check", "missing.tc"}).err.find('\033') == std::string::npos);
  CHECK(box.run({"check", "missing.tc", "--color", "always"}).err.find("\033[") != std::string::npos);
}

TEST_CASE("options come from a configuration file, and mistakes in it are told") {
  const Sandbox box;
  box.write("good.ini", "color=always\n");
  box.write("bad.ini", "colour=always\n");
  CHECK(box.run({"--config", "good.ini", "check", "missing.tc"}).err.find("\033[") != std::string::npos);
  box.write("value.ini", "# cores\nquiet=true\n  threads = 0\n");
  box.write("verb.ini", "color=always\n[tune]\nseconds=3\n");
  check_bad(box, {{"--config", "bad.ini", "check", "matmul.tc"}, 2, "command-line", "bad.ini:1:1"});
  check_bad(box, {{"--config", "bad.ini", "check", "matmul.tc"}, 2, "command-line", "'colour', which is no option"});
  check_bad(box, {{"--config", "value.ini", "check", "matmul.tc"}, 2, "command-line", "value.ini:3:3"});
  check_bad(box, {{"--config", "verb.ini", "check", "matmul.tc"}, 2, "command-line", "verb.ini:3:1"});
  // The command line's own mistake is not the file's.
  const auto own = box.run({"--config", "value.ini", "check", "matmul.tc", "--threads", "-1"});
  CHECK(own.err.find("value.ini") == std::string::npos);
}

TEST_CASE("a package's names are checked before anything is said about its schedules") {
  const Sandbox box;
  for (const auto& name : {"1st", "int", "a b"}) {
    const auto result = box.run({"build", "matvec.tc", "-s", "R=3", "-s", "C=5", "-o", "out", "--name", name});
    CHECK(result.exit_code == 2);
    CHECK(result.err.find("warning") == std::string::npos);
    CHECK(result.err.find(name) != std::string::npos);
  }
}

TEST_CASE("names of any length and bytes of any kind are shown in a line a terminal can bear") {
  const Sandbox box;
  box.write("long.tc", "def f(float(N) A) -> (o) { o(i) = " + std::string(1'000'000, 'x') + " }");
  const auto shortened = box.run({"check", "long.tc"});
  CHECK(shortened.err.size() < 1000);
  CHECK(shortened.err.find("xxx...'") != std::string::npos);
  CHECK(box.run({"check", "long.tc", "--json"}).err.size() < 1000);
  box.write("latin.tc", "def f(float(N) A) -> (o) {\n  o(i) = A(i) \xE9 # caf\xE9 \033[31m\n}\n");
  CHECK(box.run({"check", "latin.tc"}).err ==
        "latin.tc:2:15: error: the byte 0xE9, which is not UTF-8 text, has no meaning here [unsupported-character]\n"
        "    o(i) = A(i) \\xE9 # caf\\xE9 \\x1B[31m\n"
        "                ^\n"
        "note: only plain ASCII operators, names and numbers are allowed outside comments, which start with #\n");
}

TEST_CASE("version and help") {
  const Sandbox box;
  const auto version = box.run({"--version"});
  CHECK(version.exit_code == 0);
  for (const char* part : {"tile-tune 0.", "Halide", "21.0.0", "LLVM", "SQLite", "isl", "hwloc", "fmt", "nlohmann/json",
                           "CLI11", "libsodium", "XGBoost", "compiler"})
    CHECK(version.out.find(part) != std::string::npos);
  for (const auto& order : {std::vector<std::string>{"--json", "--version"}, {"--version", "--json"}}) {
    const auto json = nlohmann::json::parse(box.run(order).out);
    CHECK(json["tile_tune"].is_string());
    CHECK(json["with"]["Halide"] == "21.0.0");
  }
  const auto help = box.run({"--help"});
  CHECK(help.exit_code == 0);
  for (const char* verb : {"check", "run", "tune", "build", "db"}) CHECK(help.out.find(verb) != std::string::npos);
  CHECK(help.out.find("worker") == std::string::npos);
  CHECK(box.run({"tune", "--help"}).out.find("--trials") != std::string::npos);
}

TEST_CASE("bench ends with what its columns mean") {
  const Sandbox box;
  const std::vector<std::string> quick{"--against", "none", "--rounds", "3", "--time", "0.01"};
  const auto bench = [&](std::vector<std::string> command) {
    command.insert(command.end(), quick.begin(), quick.end());
    return box.run(command).out;
  };
  const auto one = bench({"bench", "matvec.tc", "-s", "R=5", "-s", "C=7"});
  for (const char* column : {"\nmedian, p10, p90 ", "\nGFLOP/s, GB/s ", "\nof roof ", "\nover best "})
    CHECK(one.find(column) != std::string::npos);
  box.write("suite.json", R"({"kind": "suite", "format": 1, "workloads": [
    {"name": "a", "einsum": "i->", "sizes": {"i": 9}}, {"name": "b", "einsum": "i,i->i", "sizes": {"i": 9}}]})");
  const auto many = bench({"bench", "suite.json"});
  for (const char* column : {"\ndefault, tuned ", "\nbest baseline, time ", "\n... over best ", "\nleast "})
    CHECK(many.find(column) != std::string::npos);
}
