#include "db/connection.h"

#include <fmt/format.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "db/migrate.h"
#include "db/schema_check.h"
#include "db/sql_statement.h"

namespace tile_tune::db {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 10'000;

/// SQLite's own waiting looks less and less often, every 100 ms in the end: of two writers the one that keeps coming
/// back at once would shut the other out.
constexpr int kPollMs = 2;

/// What SQLite may be made to do by a file from elsewhere, far beyond what our own statements and records need: without
/// limits one expression in it takes a gigabyte.
struct Limit {
  int kind, most;
};
constexpr std::array<Limit, 5> kLimits = {{{SQLITE_LIMIT_LENGTH, 64 << 20},  // bytes of a value or row
                                           {SQLITE_LIMIT_SQL_LENGTH, 100'000},
                                           {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                           {SQLITE_LIMIT_COMPOUND_SELECT, 10},
                                           {SQLITE_LIMIT_TRIGGER_DEPTH, 1}}};

int wait_a_little(void*, int looks) {
  if (looks * kPollMs >= kBusyTimeoutMs) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(kPollMs));
  return 1;
}

Result<void> check_path(const fs::path& path, Mode mode) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return failure("cannot-open-database", fmt::format("cannot open the tuning database {}: not a file", path.string()),
                   "name a file with --db");
  }
  if (mode == Mode::ReadOnly && status.type() == fs::file_type::not_found) {
    return failure("no-database", fmt::format("there is no tuning database {}", path.string()),
                   "`tile-tune tune` makes one; --db names another");
  }
  if (mode == Mode::ReadWrite && path.has_parent_path()) {
    error.clear();
    fs::create_directories(path.parent_path(), error);
    if (error) {
      return failure("cannot-open-database",
                     fmt::format("cannot create the folder {}: {}", path.parent_path().string(), error.message()));
    }
  }
  return {};
}

/// file:PATH?immutable=1 with everything but plain characters escaped.
std::string immutable_uri(const fs::path& path) {
  std::string uri = "file:";
  for (const unsigned char c : fs::absolute(path).string()) {
    const bool plain = std::isalnum(c) || std::strchr("/._-", c) != nullptr;
    uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return uri + "?immutable=1";
}

/// `name` as SQLite takes it, `path` as the user knows it; `vfs`: how the file is locked, null for as usual.
Result<Connection> connect(const std::string& name, const fs::path& path, int flags, const char* vfs = nullptr) {
  sqlite3* handle = nullptr;
  const int rc = sqlite3_open_v2(name.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
  Connection db(handle);
  if (rc != SQLITE_OK) {
    int system_errno = handle != nullptr ? sqlite3_system_errno(handle) : 0;
    // A file that cannot be made is tried once more for reading alone, which says that it is not there.
    const fs::path folder = path.parent_path();
    if (system_errno == ENOENT && (flags & SQLITE_OPEN_CREATE) &&
        access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
      system_errno = errno;
    return failure("cannot-open-database",
                   fmt::format("cannot open the tuning database {}: {}", path.string(),
                               system_errno != 0 ? std::strerror(system_errno) : sqlite3_errstr(rc)));
  }
  sqlite3_busy_handler(handle, wait_a_little, nullptr);
  for (const auto& [kind, most] : kLimits) sqlite3_limit(handle, kind, most);
  // A file from elsewhere may carry triggers, views and functions; ours has none.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  return db;
}

/// A name that SQLite takes for a path alone: it may be built to take "file:..." for a URI, and ":memory:" is no file.
std::string plain_name(const fs::path& path) { return (path.is_absolute() ? path : "." / path).string(); }

Result<std::string> journal_mode(sqlite3* db, std::string_view pragma) {
  Statement statement(db, pragma);
  TILE_TUNE_CHECK(statement.step());
  return statement.text(0);
}

bool is_on_network(const fs::path& path) {
  struct statfs file_system {};
  return ::statfs(path.c_str(), &file_system) == 0 && is_network_file_system(file_system.f_type);
}

uintmax_t log_size(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(resolved(path).string() + "-wal", error);
  return error ? 0 : size;
}

/// SQLite notices lost pages by itself, but takes a last page that is cut short as zeros.
Result<void> check_complete(sqlite3* db, const fs::path& path) {
  TILE_TUNE_TRY(snapshot, Transaction::begin(db, Transaction::Kind::Read));
  Statement expected(db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  TILE_TUNE_CHECK(expected.step());
  std::error_code error;
  const auto size = static_cast<int64_t>(fs::file_size(path, error));
  // While there is a log, pages may be in it alone.
  if (error || size >= expected.integer(0) || log_size(path) > 0) return {};
  return tl::unexpected(sqlite_diagnostic(db, SQLITE_CORRUPT));
}

/// A file that cannot be completed (a full disk) stays as it is: what another process has put into it meanwhile would
/// be lost with it, and what SQLite leaves of a transaction that failed counts as empty the next time.
Result<Connection> open_for_writing(const fs::path& path) {
  TILE_TUNE_TRY(db, connect(plain_name(path), path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  if (sqlite3_db_readonly(db.get(), "main") == 1) {
    return tl::unexpected(sqlite_diagnostic(db.get(), SQLITE_READONLY));
  }
  const auto all = migrations();
  // Before anything is changed: the file may be another program's.
  TILE_TUNE_CHECK(checked_version(db.get(), all.back().version));
  TILE_TUNE_CHECK(check_complete(db.get(), path));
  TILE_TUNE_CHECK(choose_journal(db.get(), is_on_network(path)));
  // FULL: a trial is on the disk when append_trial returns. In WAL mode that is one fsync per transaction, a few
  // milliseconds against the 100 ms and more that a candidate's compile takes.
  TILE_TUNE_CHECK(execute(db.get(), "PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF"));
  TILE_TUNE_CHECK(migrate(db.get(), all));
  TILE_TUNE_CHECK(execute(db.get(), "PRAGMA foreign_keys = ON"));
  return db;
}

/// A file of an older version in the memory, brought up to date: shared and archived files are read for years without
/// being changed. (A file of 100 MB takes a second or two; `tile-tune tune` on it spares that.)
Result<Connection> upgraded_copy(sqlite3* older) {
  TILE_TUNE_TRY(copy, connect(":memory:", "(memory)", SQLITE_OPEN_READWRITE));
  sqlite3_backup* backup = sqlite3_backup_init(copy.get(), "main", older, "main");
  if (backup == nullptr) return tl::unexpected(sqlite_diagnostic(copy.get(), sqlite3_errcode(copy.get())));
  sqlite3_backup_step(backup, -1);
  const int rc = sqlite3_backup_finish(backup);
  if (rc != SQLITE_OK) return tl::unexpected(sqlite_diagnostic(older, rc));
  TILE_TUNE_CHECK(migrate(copy.get(), migrations()));
  TILE_TUNE_CHECK(execute(copy.get(), "PRAGMA query_only = 1"));
  return copy;
}

/// For a file that nobody is at work on, with the log that somebody left there: its index is kept in the memory, not in
/// a file beside it (https://www.sqlite.org/wal.html, "use of WAL without shared-memory").
Result<Connection> connect_alone(const fs::path& path) {
  TILE_TUNE_TRY(db, connect(plain_name(path), path, SQLITE_OPEN_READONLY, "unix-none"));
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  TILE_TUNE_CHECK(execute(db.get(), "PRAGMA locking_mode = EXCLUSIVE"));
  return db;
}

/// Whatever the file says it is.
Result<Connection> connect_reader(const fs::path& path) {
  TILE_TUNE_TRY(db, connect(plain_name(path), path, SQLITE_OPEN_READONLY));
  const auto looked = execute(db.get(), "PRAGMA user_version");  // opens the log, too
  const bool refused = !looked && (looked.error().code == "cannot-open-database" ||
                                   looked.error().code == "database-read-only" || looked.error().code == "disk-full");
  // Readers of a WAL file make a shared-memory file beside it, which a read-only folder or a full disk refuses.
  // Without a log there is no writer and nothing to share: read the file as it is.
  if (refused && log_size(path) == 0) return connect(immutable_uri(path), path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  // Without the shared memory there is no writer either: one that was killed left the log.
  std::error_code error;
  if (refused && !fs::exists(resolved(path).string() + "-shm", error)) return connect_alone(path);
  return db;
}

/// Whether SQLite knows a table of ours, though the pages that name the others may be damaged.
bool knows_a_table(sqlite3* db) {
  const auto has = [db](const char* table, const char* column) {
    return sqlite3_table_column_metadata(db, "main", table, column, nullptr, nullptr, nullptr, nullptr, nullptr) ==
           SQLITE_OK;
  };
  return has("program", "family_hash") || has("target", "cpu_model") || has("tool", "tile_tune") ||
         has("session", "strategy") || has("trial", "verify_error");
}

tl::unexpected<Diagnostic> empty_file(const fs::path& path) {
  return failure("no-database", fmt::format("the tuning database {} is empty", path.string()),
                 "`tile-tune tune` fills it");
}

Result<Connection> open_for_reading(const fs::path& path) {
  const int newest = migrations().back().version;
  TILE_TUNE_TRY(db, connect_reader(path));
  TILE_TUNE_TRY(version, checked_version(db.get(), newest));
  if (version == 0) return empty_file(path);
  TILE_TUNE_CHECK(check_complete(db.get(), path));
  if (version < newest) return upgraded_copy(db.get());
  return db;
}

}  // namespace

fs::path resolved(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

Result<void> choose_journal(sqlite3* db, bool network) {
  const std::string wanted = network ? "delete" : "wal";
  TILE_TUNE_TRY(current, journal_mode(db, "PRAGMA journal_mode"));
  if (current == wanted) return {};
  // Changing the mode needs the file alone and does not wait for it by SQLite's own busy handler.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::milliseconds(kBusyTimeoutMs);
  while (true) {
    const auto changed = journal_mode(db, "PRAGMA journal_mode = " + wanted);
    if (changed) return {};
    if (changed.error().code != "database-busy" || std::chrono::steady_clock::now() > give_up) {
      return tl::unexpected(changed.error());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool is_read_only(sqlite3* db) {
  const char* name = sqlite3_db_filename(db, "main");
  const bool in_memory = name == nullptr || *name == '\0';
  return in_memory || sqlite3_db_readonly(db, "main") != 0;
}

bool is_network_file_system(long f_type) {
  // linux/magic.h and the file systems' own headers; FUSE may be anything, sshfs among it.
  static constexpr std::array<uint32_t, 16> kMagic = {
      0x6969,      // NFS
      0x517B,      // SMB
      0xFF534D42,  // CIFS
      0xFE534D42,  // SMB2
      0x01021997,  // 9p
      0x65735546,  // FUSE
      0x5346414F,  // AFS
      0x6B414653,  // AFS of the kernel
      0x73757245,  // Coda
      0x00C36400,  // Ceph
      0x0BD00BD0,  // Lustre
      0x47504653,  // GPFS
      0x19830326,  // BeeGFS
      0xAAD7AAEA,  // PanFS
      0x7461636F,  // OCFS2
      0x01161970,  // GFS2
  };
  return std::find(kMagic.begin(), kMagic.end(), static_cast<uint32_t>(f_type)) != kMagic.end();
}

Result<Connection> open_damaged(const fs::path& path) {
  TILE_TUNE_CHECK(check_path(path, Mode::ReadOnly));
  TILE_TUNE_TRY(db, connect_reader(path));
  // A file that is shorter than it says, or has lost some of its schema, is read only for those who may repair it.
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  const int newest = migrations().back().version;
  const auto named = schema_version(db.get(), newest);
  const auto plain = check_plain_tables(db.get());
  if (!plain) return tl::unexpected(plain.error());
  if (named && *named == newest) return db;
  // The tables are what is to be saved; the header may be what is damaged.
  const auto actual = version_of_tables(db.get());
  if (actual ? *actual == newest : knows_a_table(db.get())) return db;
  if ((actual && *actual > 0) || (named && *named > 0)) {
    return failure("database-older",
                   fmt::format("{} is of an older version, which cannot be recovered", path.string()));
  }
  if (named) return empty_file(path);
  if (named.error().code != "database-corrupt" && named.error().code != "not-a-database")
    return tl::unexpected(named.error());
  return failure(named.error().code,
                 fmt::format("nothing of {} can be read: it is no tuning database, or the pages that name its tables "
                             "are damaged",
                             path.string()));
}

Result<Connection> open_connection(const fs::path& path, Mode mode) {
  TILE_TUNE_CHECK(check_path(path, mode));
  return mode == Mode::ReadWrite ? open_for_writing(path) : open_for_reading(path);
}

}  // namespace tile_tune::db
