// Files from elsewhere: definitions that compute, and bits that flipped where no digest covers them.
#include <fmt/format.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "db/json_lines.h"
#include "db/migrate.h"
#include "db/recover.h"
#include "db/schema_check.h"
#include "tests/unit/db/fixture.h"

namespace fs = std::filesystem;
using tile_tune::Result;
using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

constexpr int kPrograms = 5, kTrialsEach = 12;

/// Several programs with a winner each.
void fill_programs(const fs::path& path) {
  Database db = open(path);
  for (int i = 0; i < kPrograms; ++i) {
    ProgramRow program = matmul();
    program.name = fmt::format("matmul{}", i);
    program.content_hash = std::string(64, static_cast<char>('a' + i));
    const auto run = value(db.begin_session(program, target(), tool(), session()));
    for (int k = 0; k < kTrialsEach; ++k) value(db.append_trial(run, trial(k, 100 * i + k)));
    value(db.append_trial(run, winner(kTrialsEach, 100 * i, 100)));
    value(db.finish_session(run, "done"));
  }
}

struct Read {
  bool whole = false;  // no error, nothing named
  std::set<std::string> lines;
};

/// As `db export` and `db merge` read a file.
Read read_records(const fs::path& path) {
  auto db = Database::open(path, Mode::ReadOnly);
  if (!db || !db->check_pages(Database::Depth::Indexes)) return {};
  Read result;
  const auto done = db->each_record([&](const Record& record) -> Result<void> {
    Record one = record;
    // A session's state has no digest: what it flips to counts as aborted.
    if (auto* run = std::get_if<SessionRecord>(&one.content); run && run->row.state == "aborted")
      run->row.state = "done";
    result.lines.insert(to_line(one));
    return {};
  });
  result.whole = done && db->damaged_records().empty();
  return result;
}

/// A definition in the place of another, as somebody with a hex editor might put it.
void redefine(const fs::path& path, const std::string& table, const std::string& from, const std::string& to) {
  sql(path, fmt::format("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '{}', '{}') "
                        "WHERE name = '{}'",
                        from, to, table));
}

std::string refused(const fs::path& path, Mode mode = Mode::ReadOnly) {
  const auto db = Database::open(path, mode);
  REQUIRE_FALSE(db.has_value());
  CHECK(db.error().code == "foreign-schema");
  CHECK_THAT(db.error().note, Catch::Contains("tile-tune db recover '" + path.string() + "' "));
  return db.error().message;
}

long peak_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("no flipped bit makes an export leave something out without a word") {
  Folder folder;
  fill_programs(folder.file());
  const auto whole = read_records(folder.file());
  REQUIRE(whole.whole);
  REQUIRE(whole.lines.size() == kPrograms * (2 + kTrialsEach + kTrialsEach + 1 + 1) + 2);
  const std::string bytes = read(folder.file());
  int found = 0, harmless = 0;
  // A bit of every 67th byte: every page, headers, cells and free space among them.
  for (size_t at = 100; at < bytes.size(); at += 67) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at / 67 % 8)));
    write(folder.file("damaged.db"), damaged);
    const auto read = read_records(folder.file("damaged.db"));
    if (read.whole) {
      INFO("byte " << at);
      const bool same = read.lines == whole.lines;  // or every line would be printed
      CHECK(same);
    }
    ++(read.whole ? harmless : found);
  }
  CHECK(found > 200);
  CHECK(harmless > 20);
}

TEST_CASE("what the check of a damaged index says names it") {
  Folder folder;
  fill_programs(folder.file());
  const std::string bytes = read(folder.file());
  const auto page = static_cast<size_t>(sql_number(folder.file(), "PRAGMA page_size"));
  const auto root = static_cast<size_t>(
      sql_number(folder.file(), "SELECT rootpage FROM sqlite_schema WHERE name = 'winner_workload'"));
  std::string damaged = bytes;
  const size_t last = root * page - 40;  // in a key
  damaged[last] = static_cast<char>(damaged[last] ^ 4);
  write(folder.file("damaged.db"), damaged);
  Database db = open(folder.file("damaged.db"), Mode::ReadOnly);
  CHECK(db.check_pages(Database::Depth::Pages).has_value());
  const auto checked = db.check_pages(Database::Depth::Indexes);
  REQUIRE_FALSE(checked.has_value());
  CHECK(checked.error().code == "database-corrupt");
  CHECK_THAT(checked.error().message, Catch::Contains("index winner_workload"));
}

TEST_CASE("no flipped bit makes recover lose something without counting it") {
  Folder folder;
  fill_programs(folder.file());
  const auto whole = read_records(folder.file());
  const std::string bytes = read(folder.file());
  for (size_t at = 4'096; at < bytes.size(); at += 997) {
    INFO("byte " << at);
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at / 997 % 8)));
    write(folder.file("damaged.db"), damaged);
    for (const char* suffix : {"", "-sessions", "-wal", "-shm"}) fs::remove(folder.file("fresh.db").string() + suffix);
    Recovered told;
    {
      Database into = open(folder.file("fresh.db"));
      const auto done = recover(folder.file("damaged.db"), into);
      if (!done) continue;
      told = *done;
    }
    const size_t lost = whole.lines.size() - read_records(folder.file("fresh.db")).lines.size();
    const size_t counted = told.refused.size() + static_cast<size_t>(told.unreadable);
    CHECK((told.cut_off || counted >= lost));
    if (lost == 0) CHECK(counted <= 1);  // a damaged copy of a name may count, nothing more
  }
}

TEST_CASE("recover counts the rows of a page that nothing leads to any more") {
  Folder folder;
  {
    Database db = open(folder.file());
    const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
    for (int i = 0; i < 300; ++i) value(db.append_trial(run, trial(i, i)));
    value(db.finish_session(run, "done"));
  }
  std::string bytes = read(folder.file());
  const auto page = static_cast<size_t>(sql_number(folder.file(), "PRAGMA page_size"));
  const size_t root =
      (static_cast<size_t>(sql_number(folder.file(), "SELECT rootpage FROM sqlite_schema WHERE name = 'schedule'")) -
       1) *
      page;
  REQUIRE(bytes[root] == 5);  // an interior page of a table; two bytes from the fourth on: its cells
  REQUIRE(bytes[root + 4] > 2);
  bytes[root + 4] = static_cast<char>(bytes[root + 4] - 1);
  write(folder.file("damaged.db"), bytes);
  Database into = open(folder.file("fresh.db"));
  const auto told = value(recover(folder.file("damaged.db"), into));
  const int64_t saved = sql_number(folder.file("fresh.db"), "SELECT count(*) FROM schedule");
  CHECK(saved < 300);
  CHECK(told.unreadable == 300 - saved);
  CHECK_FALSE(told.cut_off);
}

TEST_CASE("tables, views, triggers and indexes that are not ours are named and refused") {
  const auto [change, name] = GENERATE(table<std::string, std::string>({
      {"CREATE TRIGGER forget AFTER INSERT ON trial BEGIN DELETE FROM winner; END", "unknown trigger forget"},
      {"CREATE VIEW trials AS SELECT * FROM trial", "unknown view trials"},
      {"CREATE TABLE notes(text TEXT)", "unknown table notes"},
      {"CREATE INDEX slow ON trial(hex(zeroblob(1000) || id))", "unknown index slow"},
      {"CREATE VIRTUAL TABLE pages USING fts5(text)", "unknown table pages"},
      {"DROP INDEX trial_session", "index trial_session is missing"},
      {"DROP INDEX trial_session; CREATE INDEX trial_session ON trial(sequence, session)",
       "index trial_session is defined otherwise"},
      {"ALTER TABLE winner ADD COLUMN more TEXT AS (hex(zeroblob(1000)))", "table winner is defined otherwise"},
      {"DROP TABLE winner; CREATE VIEW winner AS SELECT 1 AS trial", "unknown view winner"},
      {"CREATE TABLE \"\x1b[2J\x07\"(a)", "unknown table \\x1B[2J\\x07"},
      {"CREATE TABLE " + std::string(5'000, 'x') + "(a)", "unknown table xxx"},
  }));
  Folder folder;
  fill_programs(folder.file());
  sql(folder.file(), "PRAGMA foreign_keys = OFF; " + change);
  const Mode mode = GENERATE(Mode::ReadOnly, Mode::ReadWrite);
  const std::string message = refused(folder.file(), mode);
  CHECK_THAT(message, Catch::Contains(name));
  CHECK(message.size() < 300);
}

TEST_CASE("a hostile expression in a file's definitions is never run") {
  const auto [table, from, to] = GENERATE(Catch::Generators::table<std::string, std::string, std::string>({
      {"schedule", "CHECK(length(id) = 32)", "CHECK(length(hex(zeroblob(900000000))) > 0)"},
      {"trial", "outcome       TEXT NOT NULL", "outcome TEXT NOT NULL CHECK(length(hex(zeroblob(900000000))) > 0)"},
      {"session", "state IN (", "length(randomblob(900000000)) > 0 OR state IN ("},
  }));
  Folder folder;
  fill_programs(folder.file());
  redefine(folder.file(), table, from, to);
  CHECK(sql_number(folder.file(), "SELECT sql LIKE '%900000000%' FROM sqlite_schema WHERE name = '" + table + "'") ==
        1);
  const long before = peak_kib();
  for (const Mode mode : {Mode::ReadOnly, Mode::ReadWrite})
    CHECK_THAT(refused(folder.file(), mode), Catch::Contains("its table " + table + " is defined otherwise"));
  // Recovering reads rows alone, of which nothing is computed.
  Database into = open(folder.file("fresh.db"));
  const auto told = value(recover(folder.file(), into));
  CHECK(told.refused.empty());
  CHECK(told.unreadable == 0);
  CHECK(told.saved == kPrograms * (2 + 2 * kTrialsEach + 1 + 1) + 2);
  CHECK(peak_kib() - before < 100'000);
}

TEST_CASE("of tables whose rows are computed nothing is recovered") {
  const auto [change, name] = GENERATE(table<std::string, std::string>({
      {"DROP TABLE winner; CREATE VIEW winner AS SELECT 1 AS trial", "view winner computes its rows"},
      {"ALTER TABLE trial ADD COLUMN more TEXT AS (hex(zeroblob(900000000)))", "table trial computes its rows"},
  }));
  Folder folder;
  fill_programs(folder.file());
  sql(folder.file(), "PRAGMA foreign_keys = OFF; " + change);
  Database into = open(folder.file("fresh.db"));
  const auto told = recover(folder.file(), into);
  REQUIRE_FALSE(told.has_value());
  CHECK(told.error().code == "foreign-schema");
  CHECK_THAT(told.error().message, Catch::Contains(name));
}

TEST_CASE("definitions are compared by their words, not by how they are set") {
  CHECK(sql_tokens("CREATE TABLE\n \"trial\" ( id  BLOB, -- a comment\n n/* 'another' */ INT DEFAULT 'a -- b')") ==
        "CREATE TABLE trial ( id BLOB , n INT DEFAULT 'a -- b' )");
  CHECK(sql_tokens("'open") == "'open");
  CHECK(sql_tokens("/* open") == "");
  CHECK(sql_tokens("a b") != sql_tokens("ab"));
  CHECK(sql_tokens("\"a b\"") == "a b");
  CHECK(sql_tokens("") == "");
  Folder folder;
  fill_programs(folder.file());
  redefine(folder.file(), "trial", "-- 0, 1, ... in the session", "-- counted");
  CHECK(read_records(folder.file()).whole);
  sql(folder.file(), "ANALYZE");
  CHECK(read_records(folder.file()).whole);
}
