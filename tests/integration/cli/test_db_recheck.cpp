// tile-tune db recheck and recover; databases of other versions, and damaged ones.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <regex>
#include <nlohmann/json.hpp>

#include "aged_database.h"
#include "base/sha256.h"
#include "db/database.h"
#include "db_commands.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/json.h"

using namespace tile_tune::test;
namespace db = tile_tune::db;

namespace {

constexpr size_t kVersionAt = 63;  // the lowest byte of PRAGMA user_version in a database's header

/// A program of other sizes than those of the database's first, with a schedule that was chosen.
void add_giant(const Sandbox& box, const std::string& rows, const std::string& columns) {
  auto database = db::Database::open(box.path("a.db"), db::Mode::ReadWrite);
  REQUIRE(database);
  const auto row = database->recorded()->front();
  auto giant = row.program;
  giant.name = "giant";
  giant.canonical_json = std::regex_replace(giant.canonical_json, std::regex("\\b31\\b"), rows);
  giant.canonical_json = std::regex_replace(giant.canonical_json, std::regex("\\b37\\b"), columns);
  const auto program = tile_tune::ir::program_from_json(nlohmann::json::parse(giant.canonical_json));
  giant.content_hash = program ? tile_tune::ir::content_hash(*program) : tile_tune::base::sha256_hex("giant");
  auto trial = database->trials_of(row.program, row.target, row.tool)->front().trial;
  trial.origin = "final";
  trial.outcome = "ok";
  trial.ratio = trial.ratio_lo = trial.ratio_hi = 2;
  trial.chosen = true;
  const auto session = database->begin_session(giant, row.target, row.tool, {});
  REQUIRE(session);
  REQUIRE(database->append_trial(*session, trial));
  REQUIRE(database->finish_session(*session, "done"));
}

}  // namespace

TEST_CASE("a flipped bit in an index is named with exit 1 before anything is handed out or deleted") {
  const Sandbox box;
  tune(box, "a.db");
  auto bytes = box.read("a.db");
  // In the last key of an index: the winner's workload, which the table has, too.
  const std::string path = box.path("a.db").string();
  const auto root =
      box.run_program({"sqlite3", path, "SELECT rootpage FROM sqlite_schema WHERE name = 'winner_workload'"});
  if (root.exit_code != 0) return;  // no such program here; tests/unit/db has the same without it
  const size_t page = 4'096, end = static_cast<size_t>(std::stoi(root.out)) * page;
  bytes[end - 40] = static_cast<char>(bytes[end - 40] ^ 4);
  box.write("a.db", bytes);
  for (const Words& verb : {Words{"export"}, Words{"prune", "--older-than", "0"}, Words{"list"}, Words{"verify"}}) {
    Words words{"db"};
    words.insert(words.end(), verb.begin(), verb.end());
    words.insert(words.end(), {"--db", "a.db"});
    const auto refused = box.run(words);
    INFO(verb[0] << ": " << refused.err);
    CHECK(refused.exit_code == 1);
    CHECK(refused.out.empty());
    CHECK(refused.err.find("index winner_workload") != std::string::npos);
  }
  CHECK(box.run({"db", "merge", "a.db", "--db", "b.db"}).exit_code == 1);
  CHECK_FALSE(std::filesystem::exists(box.path("b.db")));
  CHECK(box.run({"db", "recover", "a.db", "saved.db"}).out.find(", 0 lost") != std::string::npos);
}

TEST_CASE("a database of another version is stale until verify rechecks it; a read-only one lies under the own one") {
  const Sandbox box;
  tune(box, "new.db");
  age(box, "new.db", "team.db");
  chmod(box.path("team.db").c_str(), 0444);
  CHECK(rung(box, {"team.db"}) == "stale");
  const auto built = run(box, "build", {"--db", "own.db", "--db", "team.db", "-o", "out", "--json"});
  CHECK(json_of(built)["kernels"][0]["rung"] == "stale");
  CHECK(built.err.find("stale-record") != std::string::npos);
  CHECK(box.read("out/include/matvec.h").find("tuned (stale)") != std::string::npos);
  tune(box, "other.db");
  CHECK(rung(box, {"other.db", "team.db"}) == "exact");
  CHECK(rung(box, {"team.db", "other.db"}) == "exact");

  REQUIRE(box.run({"db", "merge", "team.db", "--db", "own.db"}).exit_code == 0);
  const auto verified = box.run({"db", "recheck", "--db", "own.db", "--db", "team.db", "--json"});
  INFO(verified.err);
  REQUIRE(verified.exit_code == 0);
  const auto findings = nlohmann::json::parse(verified.out);
  CHECK(findings["damaged"].empty());
  REQUIRE(findings["schedules"].size() == 1);
  const auto& line = findings["schedules"][0];
  CHECK(line["rung"] == "stale");
  const std::string verdict = line["verdict"];
  if (verdict == "rechecked") {
    CHECK(rung(box, {"own.db", "team.db"}) == "rechecked");
    // Once more: what holds is not stored as chosen again.
    const auto again = json_of(box.run({"db", "recheck", "--db", "own.db", "--json"}));
    CHECK(again["schedules"][0]["rung"] == "rechecked");
  } else {
    // A kernel of a microsecond on a busy machine: it may come out no faster than the default.
    CHECK((verdict == "slower than the default" || verdict == "same code as another"));
  }
  const auto shown = json_of(box.run({"db", "show", "matvec", "--db", "own.db", "--json"}));
  CHECK(shown[0]["rung"].is_string());
}

TEST_CASE("a database of a newer version under the own one is left out with a warning") {
  const Sandbox box;
  tune(box, "own.db");
  std::string newer = box.read("own.db");
  newer[kVersionAt] = 99;
  box.write("team.db", newer);
  const auto built = run(box, "build", {"--db", "own.db", "--db", "team.db", "-o", "out", "--json"});
  CHECK(json_of(built)["kernels"][0]["rung"] == "exact");
  CHECK(built.err.find("database-newer") != std::string::npos);
  const auto tuned = run(box, "tune", {"--trials", "2", "--db", "own.db", "--db", "team.db"});
  INFO(tuned.err);
  CHECK(tuned.exit_code == 0);
  CHECK(tuned.err.find("[database-newer]") != std::string::npos);
  CHECK(run(box, "build", {"--db", "team.db", "--db", "own.db", "-o", "out"}).exit_code == 1);
}

TEST_CASE("a program that cannot be run here is a line of verify, and the others are checked") {
  const Sandbox box;
  tune(box, "a.db");
  add_giant(box, "3000000", "3000000");
  const auto verified = box.run({"db", "recheck", "--db", "a.db", "--json"});
  INFO(verified.err);
  CHECK(verified.exit_code == 1);
  CHECK(verified.err.find("out-of-memory") != std::string::npos);
  REQUIRE(!verified.out.empty());
  const auto lines = nlohmann::json::parse(verified.out)["schedules"];
  REQUIRE(lines.size() >= 2);
  for (const auto& line : lines) CHECK((line["verdict"] == "not checked") == (line["name"] == "giant"));
}

TEST_CASE("of a program whose sizes overflow 64 bits verify does not say that it holds, and import refuses it") {
  const Sandbox box;
  tune(box, "a.db");
  add_giant(box, "34359738368", "68719476736");
  const auto verified = box.run({"db", "recheck", "giant", "--db", "a.db", "--json"});
  CHECK(verified.exit_code == 1);
  const auto lines = nlohmann::json::parse(verified.out)["schedules"];
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["verdict"] == "unreadable");
  CHECK(lines[0]["reason"].get<std::string>().find("64-bit address space") != std::string::npos);
  REQUIRE(box.run({"db", "export", "--db", "a.db", "-o", "a.jsonl"}).exit_code == 0);
  const auto imported = box.run({"db", "import", "a.jsonl", "--db", "b.db"});
  CHECK(imported.exit_code == 1);
  CHECK_THAT(imported.err, Catch::Contains("was left out: ") && Catch::Contains("64-bit address space"));
  CHECK(box.run({"db", "list", "--db", "b.db"}).out.find("giant") == std::string::npos);
}

TEST_CASE("verify names damaged records and files with exit 1") {
  const Sandbox box;
  tune(box, "a.db");
  CHECK(box.run({"db", "recheck", "--files-only", "--db", "a.db"}).exit_code == 0);
  CHECK(box.run({"db", "recheck", "conv", "--db", "a.db"}).err.find("[no-such-record]") != std::string::npos);
  const auto size = std::filesystem::file_size(box.path("a.db"));
  std::filesystem::copy_file(box.path("a.db"), box.path("cut.db"));
  std::filesystem::resize_file(box.path("cut.db"), size / 2);
  const auto cut = box.run({"db", "recheck", "--files-only", "--db", "cut.db"});
  CHECK(cut.exit_code == 1);
  CHECK(cut.err.find("[database-corrupt]") != std::string::npos);
  // One bit of a text that only the digest covers.
  std::string bytes = box.read("a.db");
  const auto at = bytes.find("matvec");
  REQUIRE(at != std::string::npos);
  for (auto place = at; place != std::string::npos; place = bytes.find("matvec", place + 1)) bytes[place] ^= 1;
  box.write("flipped.db", bytes);
  const auto flipped = box.run({"db", "recheck", "--files-only", "--db", "flipped.db"});
  CHECK(flipped.exit_code == 1);
  CHECK(flipped.err.find("[damaged-record]") != std::string::npos);
}

TEST_CASE("recover saves what is left of a damaged database into a new one") {
  const Sandbox box;
  tune(box, "a.db");
  const auto whole = box.run({"db", "export", "--db", "a.db"}).out;
  const auto saved = box.run({"db", "recover", "a.db", "whole.db"});
  INFO(saved.err);
  CHECK(saved.exit_code == 0);
  CHECK(saved.out.find(" records saved into whole.db, 0 lost\n") != std::string::npos);
  CHECK(box.run({"db", "export", "--db", "whole.db"}).out == whole);
  // One bit of the header: every record is there.
  std::string bytes = box.read("a.db");
  bytes[kVersionAt] = 0;
  box.write("flipped.db", bytes);
  const auto flipped = box.run({"db", "recheck", "--files-only", "--db", "flipped.db"});
  CHECK(flipped.exit_code == 1);
  CHECK(flipped.err.find("tile-tune db recover '") != std::string::npos);
  CHECK(box.run({"db", "recover", "flipped.db", "unflipped.db"}).exit_code == 0);
  CHECK(box.run({"db", "export", "--db", "unflipped.db"}).out == whole);
  const auto size = std::filesystem::file_size(box.path("a.db"));
  std::filesystem::copy_file(box.path("a.db"), box.path("cut.db"));
  std::filesystem::resize_file(box.path("cut.db"), size - 5'000);
  const auto refused = box.run({"db", "recheck", "--files-only", "--db", "cut.db"});
  CHECK(refused.err.find("tile-tune db recover '") != std::string::npos);
  const auto json = json_of(box.run({"db", "recover", "cut.db", "saved.db", "--json"}));
  CHECK(json["saved"] > 0);
  CHECK(box.run({"db", "verify", "--files-only", "--db", "saved.db"}).exit_code == 0);  // its name in earlier versions
  const auto again = box.run({"db", "recover", "cut.db", "saved.db"});
  CHECK(again.exit_code == 1);
  CHECK(again.err.find("saved.db is there already") != std::string::npos);
  CHECK(box.run({"db", "recover", "missing.db", "none.db"}).exit_code == 1);
  CHECK_FALSE(std::filesystem::exists(box.path("none.db")));
}
