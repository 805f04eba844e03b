#include "db/migrate.h"

#include <fmt/format.h>

#include "db/statement.h"

namespace tile_tune::db {
namespace {

constexpr int64_t kApplicationId = 0x5474756E;  // "Ttun" in the file's header, at offset 68

Result<int64_t> number(sqlite3* db, std::string_view sql) {
  Statement statement(db, sql);
  TILE_TUNE_CHECK(statement.step());
  return statement.integer(0);
}

/// The caller's transaction makes the three answers belong together.
Result<int> read_version(sqlite3* db, int newest) {
  const std::string path = sqlite3_db_filename(db, "main");
  TILE_TUNE_TRY(application, number(db, "PRAGMA application_id"));
  TILE_TUNE_TRY(version, number(db, "PRAGMA user_version"));
  TILE_TUNE_TRY(tables, number(db, "SELECT count(*) FROM sqlite_schema"));
  const bool empty = application == 0 && version == 0 && tables == 0;
  if (application != kApplicationId && !empty) {
    return failure("not-a-database", fmt::format("{} is an SQLite database of another program", path),
                   "name another file with --db");
  }
  if (version > newest) {
    return failure("database-newer",
                   fmt::format("the tuning database {} was written by a newer tile-tune (schema version {}, this one "
                               "knows up to {})",
                               path, version, newest),
                   "update tile-tune, or name another file with --db");
  }
  return static_cast<int>(version);
}

}  // namespace

Result<int> schema_version(sqlite3* db, int newest) {
  TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Read));
  return read_version(db, newest);
}

Result<void> migrate(sqlite3* db, std::span<const Migration> migrations) {
  const int newest = migrations.back().version;
  TILE_TUNE_TRY(before, schema_version(db, newest));
  if (before == newest) return {};
  for (const Migration& migration : migrations) {
    TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Write));
    TILE_TUNE_TRY(version, read_version(db, newest));
    if (version >= migration.version) continue;
    TILE_TUNE_CHECK(execute(db, std::string(migration.sql)));
    TILE_TUNE_CHECK(execute(
        db, fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, migration.version)));
    TILE_TUNE_CHECK(transaction.commit());
  }
  return {};
}

}  // namespace tile_tune::db
