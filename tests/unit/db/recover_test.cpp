// Files with damaged pages: how they are found, and what is saved of them.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "db/json_lines.h"
#include "db/recover.h"
#include "tests/unit/db/fixture.h"

namespace fs = std::filesystem;
using tile_tune::Result;
using namespace tile_tune::db;
using namespace tile_tune::db::testing;

namespace {

constexpr int kTrials = 150;
constexpr size_t kVersionAt = 60, kApplicationAt = 68;  // in the header, four bytes each

/// Many trials and a winner; the text of some schedules fills several pages.
void fill_trials(const fs::path& path, int trials = kTrials) {
  Database db = open(path);
  const auto run = value(db.begin_session(matmul(), target(), tool(), session()));
  for (int i = 0; i < trials; ++i) value(db.append_trial(run, trial(i, i)));
  value(db.append_trial(run, winner(trials, 8, 100)));
  value(db.finish_session(run, "done"));
}

std::set<std::string> records(const fs::path& path) {
  Database db = open(path, Mode::ReadOnly);
  std::set<std::string> lines;
  value(db.each_record([&](const Record& record) -> Result<void> {
    lines.insert(to_line(record));
    return {};
  }));
  CHECK(db.damaged_records().empty());
  return lines;
}

struct Saved {
  Recovered told;
  std::set<std::string> records;
};

Saved recovered(const Folder& folder, const fs::path& damaged) {
  const std::string before = read(damaged);
  const fs::path fresh = folder.file("recovered.db");
  for (const char* suffix : {"", "-sessions"}) fs::remove(fresh.string() + suffix);
  Recovered told;
  {
    Database into = open(fresh);
    told = value(recover(damaged, into));
    value(into.check_pages(Database::Depth::Indexes));
  }
  CHECK(read(damaged) == before);
  return {told, records(fresh)};
}

bool is_part(const std::set<std::string>& some, const std::set<std::string>& all) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

TEST_CASE("of a whole file everything is recovered") {
  Folder folder;
  fill_trials(folder.file());
  const auto saved = recovered(folder, folder.file());
  CHECK(saved.records == records(folder.file()));
  CHECK(saved.told.saved == static_cast<int>(saved.records.size()));
  CHECK(saved.told.refused.empty());
  CHECK(saved.told.unreadable == 0);
  CHECK_FALSE(saved.told.cut_off);
}

TEST_CASE("of a file with a page of noise most is recovered, whatever page it is") {
  Folder folder;
  fill_trials(folder.file());
  const auto all = records(folder.file());
  const std::string bytes = read(folder.file());
  const auto page = static_cast<size_t>(sql_number(folder.file(), "PRAGMA page_size"));
  size_t pages = 0, hopeless = 0, complete = 0, kept = 0;
  for (size_t at = page; at < bytes.size(); at += 5 * page) {
    INFO("page at " << at);
    std::string damaged = bytes;
    for (size_t i = 0; i < page; ++i) damaged[at + i] = static_cast<char>((i * 2654435761u + at) >> 7);
    write(folder.file("damaged.db"), damaged);
    ++pages;
    if (Database none = open(folder.file("none.db")); !recover(folder.file("damaged.db"), none)) {
      ++hopeless;
      continue;
    }
    const auto saved = recovered(folder, folder.file("damaged.db"));
    CHECK(is_part(saved.records, all));
    complete += saved.records.size() == all.size();  // a page of an index
    kept += saved.records.size();
  }
  CHECK(hopeless <= 1);  // names tables
  CHECK(complete > pages / 10);
  CHECK(kept > pages * all.size() / 2);
}

TEST_CASE("of a truncated file what is left is recovered") {
  Folder folder;
  fill_trials(folder.file());
  const auto all = records(folder.file());
  const std::string bytes = read(folder.file());
  write(folder.file("cut.db"), bytes.substr(0, bytes.size() * 3 / 4 + 100));
  CHECK_FALSE(Database::open(folder.file("cut.db"), Mode::ReadOnly).has_value());
  const auto saved = recovered(folder, folder.file("cut.db"));
  CHECK(is_part(saved.records, all));
  CHECK(saved.records.size() > all.size() / 3);
  CHECK(saved.records.size() < all.size());
  CHECK((saved.told.cut_off || saved.told.unreadable > 0));
}

TEST_CASE("no bit of what the header says of program and version costs a record") {
  Folder folder;
  fill_trials(folder.file(), 1);
  const auto all = records(folder.file());
  const std::string bytes = read(folder.file());
  for (const size_t field : {kVersionAt, kApplicationAt})
    for (size_t bit = 0; bit < 32; ++bit) {
      INFO("bit " << bit << " from byte " << field);
      std::string damaged = bytes;
      damaged[field + bit / 8] = static_cast<char>(damaged[field + bit / 8] ^ (1 << bit % 8));
      write(folder.file("damaged.db"), damaged);
      const auto opened = Database::open(folder.file("damaged.db"), Mode::ReadOnly);
      REQUIRE_FALSE(opened.has_value());
      CHECK((opened.error().code == "database-corrupt" || opened.error().code == "database-newer"));
      CHECK(recovered(folder, folder.file("damaged.db")).records == all);
    }
}

TEST_CASE("of a file that has lost the names of some tables the others are recovered") {
  Folder folder;
  fill_trials(folder.file());
  const auto all = records(folder.file());
  std::string bytes = read(folder.file());
  const auto page = static_cast<size_t>(sql_number(folder.file(), "PRAGMA page_size"));
  const size_t names = bytes.find("CREATE INDEX trial_schedule");
  REQUIRE(names != std::string::npos);
  bytes.replace(names / page * page, page, page, 'x');
  write(folder.file("damaged.db"), bytes);
  const auto saved = recovered(folder, folder.file("damaged.db"));
  CHECK(is_part(saved.records, all));
  CHECK(saved.records.size() > 3);
  CHECK(saved.told.cut_off);
}

TEST_CASE("an index that disagrees with its table is found where that is asked for, and everything is recovered") {
  Folder folder;
  fill_trials(folder.file());
  const auto all = records(folder.file());
  sql(folder.file(),
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX trial_schedule ON trial(session)' "
      "WHERE name = 'trial_schedule'");
  sql(folder.file(), "REINDEX trial_schedule");
  sql(folder.file(),
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX trial_schedule ON trial(schedule)' "
      "WHERE name = 'trial_schedule'");
  {
    Database db = open(folder.file(), Mode::ReadOnly);
    const auto checked = db.check_pages(Database::Depth::Indexes);
    REQUIRE_FALSE(checked.has_value());
    CHECK(checked.error().code == "database-corrupt");
    CHECK_THAT(checked.error().note, Catch::Contains("tile-tune db recover '" + folder.file().string() + "' "));
  }
  CHECK(recovered(folder, folder.file()).records == all);
}

TEST_CASE("damaged records are left out of what is recovered, and so is what needs them") {
  Folder folder;
  fill_trials(folder.file());
  sql(folder.file(), "UPDATE trial SET median_ns = 1 WHERE origin = 'final'");
  const auto saved = recovered(folder, folder.file());
  REQUIRE(saved.told.refused.size() == 2);
  CHECK_THAT(saved.told.refused[0].record, Catch::StartsWith("trial "));
  CHECK_THAT(saved.told.refused[1].record, Catch::StartsWith("winner "));
}

TEST_CASE("nothing is recovered from what is no database, or has lost its first page") {
  Folder folder;
  fill_trials(folder.file());
  Database into = open(folder.file("recovered.db"));
  std::string bytes = read(folder.file());
  bytes.replace(0, 4'096, 4'096, 'x');
  write(folder.file("damaged.db"), bytes);
  const auto none = recover(folder.file("damaged.db"), into);
  REQUIRE_FALSE(none.has_value());
  CHECK_THAT(none.error().message, Catch::Contains("the pages that name its tables"));
  CHECK(recover(folder.file("missing.db"), into).error().code == "no-database");
}
