// Schema versions: db/schema/NNN_name.sql brings a file from version NNN-1 to NNN.
#pragma once

#include <sqlite3.h>

#include <span>
#include <string_view>

#include "db/connection.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::db {

struct Migration {
  int version;
  std::string_view sql;
};

/// All of them in order, from the files of db/schema.
std::span<const Migration> migrations();

/// What a file says it is. A file without any table or mark counts as version 0 of ours: there is nothing to lose.
/// Another program's database: not-a-database. A version above `newest`: database-newer. A header that does not go with
/// the tables: database-corrupt.
Result<int> schema_version(sqlite3* db, int newest);
/// The same of a file whose tables and indexes are besides defined as this tool defines them (db/schema_check.h).
Result<int> checked_version(sqlite3* db, int newest);

/// An empty database of this version.
Result<Connection> schema_in_memory(int version);

/// The version that has exactly these tables and columns, whatever the header says; 0: none.
Result<int> version_of_tables(sqlite3* db);

/// Runs the missing ones, each in a transaction of its own that another process may have been faster with. References
/// must not be enforced yet: a table that others refer to is replaced.
Result<void> migrate(sqlite3* db, std::span<const Migration> migrations);

}  // namespace tile_tune::db
