// Records with a value that is longer than SQLite may hand out here (connection.cpp): they must not keep all others
// from being read.
#pragma once

#include <sqlite3.h>

#include "db/rows.h"
#include "db/sql_statement.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::db {

/// Names such records as damaged, and takes them out of what the connection reads from now on: temporary views stand in
/// for tables that have some, so that what writes must name the tables in "main". Not within a transaction.
Result<void> leave_out_too_long(sqlite3* db, Damaged& damaged);

/// Makes a read, and makes it again without such records if it met one. Within a transaction that is up to whoever
/// began it.
template <typename Read>
auto without_too_long(sqlite3* db, Damaged& damaged, const Read& read) -> decltype(read()) {
  auto result = read();
  if (result || result.error().code != kTooLong || sqlite3_get_autocommit(db) == 0) return result;
  TILE_TUNE_CHECK(leave_out_too_long(db, damaged));
  return read();
}

}  // namespace tile_tune::db
