// Schema versions: files of older and newer tools.
#include <fmt/format.h>
#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "db/connection.h"
#include "db/json_lines.h"
#include "db/migrate.h"
#include "db/sql_statement.h"
#include "tests/unit/db/fixture.h"

using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

/// tests/unit/db/data/version_N.sql: a file of schema version N as `sqlite3 FILE .dump` wrote it.
void restore(const std::filesystem::path& path, int version) {
  std::ostringstream dump;
  dump << std::ifstream(fmt::format("{}/tests/unit/db/data/version_{}.sql", TILE_TUNE_SOURCE_DIR, version)).rdbuf();
  REQUIRE(dump.str().size() > 1'000);
  sql(path, dump.str());
}
void restore_version_1(const std::filesystem::path& path) { restore(path, 1); }

Connection raw(const std::filesystem::path& path) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  return Connection(db);
}

/// Version 1 and then something else than the true version 2.
std::vector<Migration> with(std::string_view version_2) {
  std::vector<Migration> all(migrations().begin(), migrations().end());
  all.resize(1);
  all.push_back({2, version_2});
  return all;
}

}  // namespace

TEST_CASE("a stored file of every version is read, checked and continued") {
  const int version = GENERATE(range(1, migrations().back().version + 1));
  Folder folder;
  restore(folder.file(), version);
  Database db = open(folder.file());
  CHECK(sql_number(folder.file(), "PRAGMA user_version") == migrations().back().version);
  const auto best = value(db.best(matmul(), former_target(), tool()));
  REQUIRE(best.has_value());
  CHECK(best->schedule_json == R"({"tile":32})");
  CHECK(best->median_ns == 100);
  CHECK(best->same_target);
  CHECK(best->same_tool);
  const auto unfinished = value(db.unfinished_session(matmul(), former_target(), tool()));
  REQUIRE(unfinished.has_value());
  CHECK(unfinished->trials == 2);
  value(db.resume_session(unfinished->session.id));
  value(db.append_trial(unfinished->session.id, trial(unfinished->next_sequence, 64)));
  CHECK(value(db.trials_of(matmul(), former_target(), tool())).size() == 6);
  int records = 0;
  value(db.each_record([&](const Record&) -> tile_tune::Result<void> {
    ++records;
    return {};
  }));
  CHECK(records > 6);
  CHECK(db.damaged_records().empty());  // names and digests of version 2 came out right
}

TEST_CASE("an older file is read as it is where it cannot or must not be written") {
  const std::string journal = GENERATE(as<std::string>(), "delete", "wal");
  Folder folder;
  restore_version_1(folder.file());
  sql(folder.file(), "PRAGMA journal_mode = " + journal);
  Database db = open(folder.file(), Mode::ReadOnly);
  const auto best = value(db.best(matmul(), former_target(), tool()));
  REQUIRE(best.has_value());
  CHECK(best->median_ns == 100);
  CHECK(value(db.list()).size() > 0);
  const auto refused = db.begin_session(matmul(), former_target(), tool(), session());
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == "database-read-only");
  CHECK(sql_number(folder.file(), "PRAGMA user_version") == 1);
}

TEST_CASE("a file of every version and the same file brought up to date hold the same records") {
  const int version = GENERATE(range(1, migrations().back().version + 1));
  Folder folder;
  restore(folder.file("old.db"), version);
  restore(folder.file("new.db"), version);
  open(folder.file("new.db"));
  const auto lines = [&](const std::string& name) {
    Database db = open(folder.file(name), Mode::ReadOnly);
    std::vector<std::string> all;
    value(db.each_record([&](const Record& record) -> tile_tune::Result<void> {
      all.push_back(to_line(record));
      return {};
    }));
    CHECK(db.damaged_records().empty());
    return all;
  };
  CHECK(lines("old.db").size() > 6);
  CHECK(lines("old.db") == lines("new.db"));
}

TEST_CASE("migrations run forward from a version-1 file and keep its records") {
  Folder folder;
  restore_version_1(folder.file());
  Connection db = raw(folder.file());
  const auto both = with("ALTER TABLE trial ADD COLUMN predicted REAL; CREATE TABLE note(text TEXT)");
  value(migrate(db.get(), both));
  value(migrate(db.get(), both));  // nothing left to do
  CHECK(value(schema_version(db.get(), 2)) == 2);
  CHECK(sql_number(folder.file(), "SELECT count(*) FROM trial WHERE predicted IS NULL") == 5);
}

TEST_CASE("a migration that fails leaves the file at its old version") {
  Folder folder;
  restore_version_1(folder.file());
  Connection db = raw(folder.file());
  CHECK_FALSE(migrate(db.get(), with("CREATE TABLE note(text TEXT); DROP TABLE no_such_table")).has_value());
  CHECK(value(schema_version(db.get(), 2)) == 1);
  CHECK(sql_number(folder.file(), "SELECT count(*) FROM sqlite_schema WHERE name = 'note'") == 0);
}

TEST_CASE("a file of a newer tool is refused, with both versions in the message") {
  Folder folder;
  open(folder.file());
  sql(folder.file(), "PRAGMA user_version = 4711");
  for (const Mode mode : {Mode::ReadOnly, Mode::ReadWrite}) {
    const auto db = Database::open(folder.file(), mode);
    REQUIRE_FALSE(db.has_value());
    CHECK(db.error().code == "database-newer");
    CHECK_THAT(db.error().message, Catch::Contains("4711") && Catch::Contains("up to 3"));
  }
  CHECK(sql_number(folder.file(), "PRAGMA user_version") == 4711);
}

TEST_CASE("a header that does not go with the tables is damage, whatever it says") {
  const int newest = migrations().back().version;
  const auto [version, change] = GENERATE_COPY(table<int, std::string>({{1, "user_version = 0"},
                                                                        {newest, "user_version = 0"},
                                                                        {newest, "user_version = 1"},
                                                                        {newest, "user_version = -2147483646"},
                                                                        {1, "application_id = 0"},
                                                                        {newest, "application_id = 0"},
                                                                        {newest, "application_id = 1416918383"}}));
  INFO("version " << version << ": " << change);
  Folder folder;
  restore(folder.file(), version);
  sql(folder.file(), "PRAGMA " + change);
  for (const Mode mode : {Mode::ReadOnly, Mode::ReadWrite}) {
    const auto db = Database::open(folder.file(), mode);
    REQUIRE_FALSE(db.has_value());
    CHECK(db.error().code == "database-corrupt");
    CHECK_THAT(db.error().message, Catch::Contains("its header does not go with its tables"));
    CHECK_THAT(db.error().note, Catch::Contains("tile-tune db recover '"));
  }
  const auto rest = open_damaged(folder.file());
  CHECK((rest ? "opened" : rest.error().code) ==
        (version == migrations().back().version ? "opened" : "database-older"));
}

TEST_CASE("a file of other tables is not recovered, by a header of ours or not") {
  Folder folder;
  open(folder.file("newer.db"));
  sql(folder.file("newer.db"), "ALTER TABLE trial ADD COLUMN predicted REAL; PRAGMA user_version = 4");
  CHECK(open_damaged(folder.file("newer.db")).error().code == "database-newer");
  sql(folder.file("contacts.db"), "CREATE TABLE contacts(name TEXT); PRAGMA user_version = 2");
  CHECK(open_damaged(folder.file("contacts.db")).error().code == "not-a-database");
  sql(folder.file("session.db"), "CREATE TABLE session(name TEXT); PRAGMA user_version = 2");
  CHECK(open_damaged(folder.file("session.db")).error().code == "not-a-database");
}

TEST_CASE("an older tool refuses a file of the newest version and leaves it as it is") {
  // What this tool does with a file of its own version is what every older one does with it: refuse by the number.
  Folder folder;
  restore(folder.file(), migrations().back().version);
  Connection db = raw(folder.file());
  const auto version = schema_version(db.get(), migrations().back().version - 1);
  REQUIRE_FALSE(version.has_value());
  CHECK(version.error().code == "database-newer");
  CHECK_FALSE(migrate(db.get(), migrations().first(migrations().size() - 1)).has_value());
  CHECK(sql_number(folder.file(), "PRAGMA user_version") == migrations().back().version);
}

TEST_CASE("migrations are numbered 1, 2, 3, ...") {
  int expected = 1;
  for (const Migration& migration : migrations()) CHECK(migration.version == expected++);
  CHECK(expected > 1);
}
