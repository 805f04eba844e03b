#include "db/too_long.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <limits>
#include <vector>

#include "db/sql_statement.h"

namespace tile_tune::db {
namespace {

constexpr std::array kTables = {"program", "target", "tool", "session", "schedule", "trial"};  // those with row numbers

/// The rows of a table are gone through once more for each; a file with more of them is not worth it.
constexpr size_t kMost = 1'000;

constexpr size_t kIdDigits = 64;

/// Numbers of the rows in which a value is too long.
Result<std::vector<int64_t>> rows_too_long(sqlite3* db, const std::string& table) {
  constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
  Statement whole(db, fmt::format("SELECT rowid, * FROM main.{} NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid", table));
  Statement next(db,
                 fmt::format("SELECT rowid FROM main.{} NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid LIMIT 1", table));
  std::vector<int64_t> found;
  for (int64_t from = std::numeric_limits<int64_t>::min();;) {
    whole.rewind().bind(from);
    auto more = whole.step();
    for (; more && *more; more = whole.step()) {
      if (whole.integer(0) == kLast) return found;
      from = whole.integer(0) + 1;
    }
    if (more) return found;
    if (more.error().code != kTooLong || found.size() == kMost) return tl::unexpected(more.error());
    TILE_TUNE_TRY(is_there, next.rewind().bind(from).step());
    if (!is_there) return tl::unexpected(more.error());
    found.push_back(next.integer(0));
    if (found.back() == kLast) return found;
    from = found.back() + 1;
  }
}

/// The id of a record, or where it stands.
std::string name_of(sqlite3* db, const std::string& table, int64_t row) {
  Statement select(db, fmt::format("SELECT id FROM main.{} NOT INDEXED WHERE rowid = ?1", table));
  const auto found = select.bind(row).step();
  const std::string id = found && *found ? select.hex(0) : "";
  return !id.empty() && id.size() <= kIdDigits ? id : fmt::format("in row {}", row);
}

Result<void> show_without(sqlite3* db, const std::string& table, const std::string& condition) {
  return execute(db, fmt::format("CREATE TEMP VIEW {0} AS SELECT * FROM main.{0} WHERE {1}", table, condition));
}

/// Winners have no row numbers, but nothing but short columns.
Result<void> leave_out_winners(sqlite3* db, Damaged& damaged) {
  Statement whole(db, "SELECT * FROM main.winner NOT INDEXED");
  auto more = whole.step();
  while (more && *more) more = whole.step();
  if (more) return {};
  if (more.error().code != kTooLong) return tl::unexpected(more.error());
  // Of a blob SQLite knows the length without reading it.
  const std::string is_short = "length(workload) <= 32 AND length(digest) <= 32";
  Statement names(db, fmt::format("SELECT trial FROM main.winner WHERE length(trial) <= 32 AND NOT ({})", is_short));
  while (true) {
    TILE_TUNE_TRY(found, names.step());
    if (!found) break;
    note_damaged(damaged, "winner", names.hex(0));
  }
  Statement unnamed(db, "SELECT 1 FROM main.winner WHERE length(trial) > 32 LIMIT 1");
  TILE_TUNE_TRY(is_unnamed, unnamed.step());
  if (is_unnamed) note_damaged(damaged, "winner", "of no trial");
  return show_without(db, "winner", fmt::format("length(trial) <= 32 AND {}", is_short));
}

}  // namespace

Result<void> leave_out_too_long(sqlite3* db, Damaged& damaged) {
  TILE_TUNE_CHECK(execute(db, "PRAGMA temp_store = MEMORY"));  // a read-only machine may have no folder for them
  for (const std::string table : kTables) {
    TILE_TUNE_CHECK(execute(db, fmt::format("DROP VIEW IF EXISTS temp.{}", table)));
    TILE_TUNE_TRY(rows, rows_too_long(db, table));
    for (const int64_t row : rows) note_damaged(damaged, table.c_str(), name_of(db, table, row));
    if (!rows.empty())
      TILE_TUNE_CHECK(show_without(db, table, fmt::format("rowid NOT IN ({})", fmt::join(rows, ", "))));
  }
  TILE_TUNE_CHECK(execute(db, "DROP VIEW IF EXISTS temp.winner"));
  return leave_out_winners(db, damaged);
}

}  // namespace tile_tune::db
