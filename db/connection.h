// Opening the SQLite file: what kind of file it is, how it is locked and journalled, what it may do.
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <memory>

#include "db/database.h"

namespace tile_tune::db {

struct CloseConnection {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using Connection = std::unique_ptr<sqlite3, CloseConnection>;

/// A connection to a file of ours at the current schema version; see Database::open.
Result<Connection> open_connection(const std::filesystem::path& path, Mode mode);

/// For reading what is left of a file, whatever is wrong with its pages: its tables say what it is, not its header.
Result<Connection> open_damaged(const std::filesystem::path& path);

/// What a symbolic link leads to, any other path as it is: SQLite puts its log beside the file itself, and so do we
/// what is ours.
std::filesystem::path resolved(const std::filesystem::path& path);

/// WAL on local disks, a rollback journal on network file systems; waits for the others to let go of the file.
Result<void> choose_journal(sqlite3* db, bool network);

/// Opened for reading alone, or a copy of such a file.
bool is_read_only(sqlite3* db);

/// Whether statfs(2)'s f_type names a file system whose locks and shared memory do not reach other machines, so that
/// WAL would corrupt the file (https://www.sqlite.org/wal.html, "does not work over a network filesystem").
bool is_network_file_system(long f_type);

}  // namespace tile_tune::db
