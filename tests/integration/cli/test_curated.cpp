// Schedules that the tool is shipped with: taken where the user has none, and never before his own.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sandbox.h"

namespace tile_tune {
namespace {

using namespace tile_tune::test;

const Words kShippedMatvec{"matvec.tc", "-s", "R=300", "-s", "C=97"};

Finished with_curated(const Sandbox& box, const std::string& file, const Words& words) {
  return box.run_program(Words{"env", "TILE_TUNE_CURATED=" + file, Sandbox::tool()} + words);
}

std::string curated_rung(const Sandbox& box, const std::string& curated, const Words& more) {
  const auto built =
      require(with_curated(box, curated, Words{"build"} + kShippedMatvec + Words{"-o", "out", "--json"} + more));
  return nlohmann::json::parse(built.out)["kernels"][0]["rung"];
}

void tune_into(const Sandbox& box, const std::string& database) {
  require(box.run(Words{"tune"} + kShippedMatvec + Words{"--trials", "4", "--seed", "3", "--db", database, "--quiet"}));
}

}  // namespace

TEST_CASE("a shipped schedule is taken where nothing of one's own is stored, and read alone") {
  const Sandbox box;
  tune_into(box, "shipped.db");
  const auto before = box.read("shipped.db");
  CHECK(curated_rung(box, "shipped.db", {"--db", "own.db"}) == "curated");
  CHECK(curated_rung(box, "", {"--db", "own.db"}) == "default");
  const auto told = with_curated(box, "shipped.db", Words{"build"} + kShippedMatvec + Words{"-o", "out"});
  CHECK(told.err.find("tuned schedule (curated)") != std::string::npos);
  CHECK(told.err.find("warning") == std::string::npos);
  CHECK(box.read("out/include/matvec.h").find("tuned (curated)") != std::string::npos);
  // A manifest that says so builds the same again.
  CHECK(require(box.run({"build", "--from", "out/share/matvec/manifest.json", "-o", "again"})).exit_code == 0);
  // Own records come first, and other threads have none.
  CHECK(curated_rung(box, "shipped.db", {"--db", "own.db", "--threads", "5"}) == "default");
  tune_into(box, "own.db");
  CHECK(curated_rung(box, "shipped.db", {"--db", "own.db"}) == "exact");
  CHECK(box.read("shipped.db") == before);
}

TEST_CASE("a search begins with the shipped schedule, a recheck times it and keeps what it finds") {
  const Sandbox box;
  tune_into(box, "shipped.db");
  const auto best = nlohmann::json::parse(
      require(box.run(Words{"explain"} + kShippedMatvec + Words{"--what", "schedule", "--json", "--db", "shipped.db"}))
          .out);
  const auto plain = nlohmann::json::parse(
      require(box.run(Words{"explain"} + kShippedMatvec + Words{"--what", "schedule", "--json", "--db", "none.db"}))
          .out);
  require(with_curated(box, "shipped.db",
                       Words{"tune"} + kShippedMatvec + Words{"--trials", "2", "--seed", "5", "--db", "own.db"}));
  const auto trials = require(box.run({"db", "export", "--db", "own.db"})).out;
  CHECK(trials.find(best["schedule"].dump()) != std::string::npos);
  if (best["schedule"] == plain["schedule"]) WARN("the default came out as the best: that it is tried proves nothing");
  const auto rechecked = curated_rung(box, "shipped.db", {"--db", "new.db", "--recheck"});
  // A kernel of a microsecond on a busy machine: it may come out no faster than the default.
  CHECK((rechecked == "rechecked" || rechecked == "default"));
}

TEST_CASE("a file that is no database, or not there, is a warning") {
  const Sandbox box;
  box.write("text.db", "no database");
  for (const char* file : {"text.db", "missing.db"}) {
    const auto built = with_curated(box, file, Words{"build"} + kShippedMatvec + Words{"-o", "out"});
    CHECK(built.exit_code == 0);
    CHECK(built.err.find(file) != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(box.path("missing.db")));
}

}  // namespace tile_tune
