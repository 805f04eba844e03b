#include "db/sql_statement.h"

#include <fmt/format.h>
#include <sodium.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

namespace tile_tune::db {
namespace {

static_assert(std::endian::native == std::endian::little, "samples are stored as little-endian float64");

constexpr size_t kHashDigits = 64;

std::string from_hex(std::string_view hex) {
  std::string bytes(hex.size() / 2, '\0');
  size_t written = 0;
  const char* end = nullptr;
  const int rc = sodium_hex2bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), hex.data(), hex.size(),
                                nullptr, &written, &end);
  return rc == 0 && end == hex.data() + hex.size() ? bytes : std::string();
}

std::string to_hex(const void* data, size_t size) {
  std::string hex(2 * size + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), static_cast<const unsigned char*>(data), size);
  hex.pop_back();  // sodium's terminating zero
  return hex;
}

/// errno of the last failed write to the log: a failed COMMIT does not hand it on to sqlite3_system_errno().
int log_errno(sqlite3* db) {
  sqlite3_file* log = nullptr;
  int last = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log != nullptr &&
      log->pMethods != nullptr) {
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &last);
  }
  return last;
}

/// SQLite says SQLITE_FULL only for ENOSPC at a data write; a quota, a limit on file sizes, and a disk too full for
/// the shared-memory file come as input/output errors.
bool means_disk_full(sqlite3* db, int primary_code) {
  const auto is_full = [](int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; };
  return primary_code == SQLITE_FULL ||
         (primary_code == SQLITE_IOERR && (is_full(sqlite3_system_errno(db)) || is_full(log_errno(db))));
}

}  // namespace

std::string in_quotes(const std::string& path) {
  std::string word = "'";
  for (const char c : path) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

Diagnostic sqlite_diagnostic(sqlite3* db, int result_code) {
  const char* name = sqlite3_db_filename(db, "main");
  const std::string path = name != nullptr && *name != '\0' ? name : "(a copy of an older file)";
  const int code = result_code & 0xFF;  // the primary code of an extended one
  const int system_errno = sqlite3_system_errno(db);
  const auto make = [](const char* id, std::string message, std::string note = "") {
    return Diagnostic{ErrorClass::Failure, id, std::move(message), std::nullopt, std::move(note)};
  };
  if (means_disk_full(db, code)) {
    return make("disk-full", fmt::format("the disk that holds the tuning database {} is full", path),
                "what was stored before is kept; make room and start again with --resume");
  }
  switch (code) {
    case SQLITE_NOTADB:
      return make("not-a-database", fmt::format("{} is not a tuning database", path), "name another file with --db");
    case SQLITE_CORRUPT:
      return make("database-corrupt", fmt::format("the tuning database {} is damaged", path),
                  fmt::format("save what is left with: tile-tune db recover {} recovered.db", in_quotes(path)));
    case SQLITE_TOOBIG:
      return make(kTooLong, fmt::format("the tuning database {} holds a value that is too long to be read", path),
                  fmt::format("save the rest with: tile-tune db recover {} recovered.db", in_quotes(path)));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return make("database-busy", fmt::format("another process keeps the tuning database {} locked", path));
    case SQLITE_READONLY:
      return make("database-read-only", fmt::format("the tuning database {} cannot be written", path),
                  "make the file and its folder writable, or name another file with --db");
    case SQLITE_CONSTRAINT:
      return make("bad-record",
                  fmt::format("a record does not fit the tuning database {}: {}", path, sqlite3_errmsg(db)));
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return make("cannot-open-database",
                  fmt::format("cannot open the tuning database {}: {}", path,
                              system_errno != 0 ? std::strerror(system_errno) : sqlite3_errmsg(db)));
    default:
      return make("database-error", fmt::format("the tuning database {} failed: {}", path, sqlite3_errmsg(db)));
  }
}

Result<void> execute(sqlite3* db, const std::string& sql) {
  const int rc = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) return tl::unexpected(sqlite_diagnostic(db, rc));
  return {};
}

Statement::Statement(sqlite3* db, std::string_view sql) : db_(db) {
  sqlite3_stmt* handle = nullptr;
  note(sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &handle, nullptr));
  handle_.reset(handle);
}

void Statement::note(int result_code) {
  if (error_ == SQLITE_OK) error_ = result_code;
}

void Statement::bind_at(int index, int64_t value) { note(sqlite3_bind_int64(handle_.get(), index, value)); }
void Statement::bind_at(int index, double value) { note(sqlite3_bind_double(handle_.get(), index, value)); }
void Statement::bind_at(int index, const std::string& value) {
  note(sqlite3_bind_text64(handle_.get(), index, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}
void Statement::bind_at(int index, const std::optional<std::string>& value) {
  if (value) return bind_at(index, *value);
  note(sqlite3_bind_null(handle_.get(), index));
}
void Statement::bind_at(int index, Id value) { bind_bytes(index, from_hex(value.hex)); }
void Statement::bind_at(int index, const std::vector<double>& values) {
  bind_bytes(index, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
}
void Statement::bind_at(int index, const std::vector<std::string>& hashes) {
  std::string bytes;
  for (const std::string& hash : hashes) bytes += from_hex(hash);
  bind_bytes(index, bytes);
}
void Statement::bind_bytes(int index, std::string_view bytes) {
  // A null pointer would bind NULL, also with a size of 0.
  note(sqlite3_bind_blob64(handle_.get(), index, bytes.empty() ? "" : bytes.data(), bytes.size(), SQLITE_TRANSIENT));
}

Result<bool> Statement::step() {
  const int rc = error_ != SQLITE_OK ? error_ : sqlite3_step(handle_.get());
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) return false;
  return tl::unexpected(sqlite_diagnostic(db_, rc));
}

Result<void> Statement::run() {
  TILE_TUNE_CHECK(step());
  return {};
}

double Statement::real(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::numeric_limits<double>::quiet_NaN();
  return sqlite3_column_double(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const unsigned char* data = sqlite3_column_text(handle_.get(), column);
  if (data == nullptr) return "";
  return {reinterpret_cast<const char*>(data), static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

std::optional<std::string> Statement::text_if_any(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::nullopt;
  return text(column);
}

std::string Statement::hex(int column) const {
  const void* data = sqlite3_column_blob(handle_.get(), column);
  if (data == nullptr) return "";
  return to_hex(data, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column)));
}

std::vector<double> Statement::reals(int column) const {
  const void* data = sqlite3_column_blob(handle_.get(), column);
  std::vector<double> values(static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column)) / sizeof(double));
  if (!values.empty()) std::memcpy(values.data(), data, values.size() * sizeof(double));
  return values;
}

std::vector<std::string> Statement::hashes(int column) const {
  const std::string all = hex(column);
  std::vector<std::string> hashes;
  for (size_t at = 0; at < all.size(); at += kHashDigits) hashes.push_back(all.substr(at, kHashDigits));
  return hashes;
}

Result<Transaction> Transaction::begin(sqlite3* db, Kind kind) {
  TILE_TUNE_CHECK(execute(db, kind == Kind::Write ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(db);
}

Transaction::~Transaction() {
  // After some errors (a full disk) SQLite has rolled back already; a second ROLLBACK is refused harmlessly.
  if (db_ != nullptr) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
}

Result<void> Transaction::commit() {
  TILE_TUNE_CHECK(execute(db_, "COMMIT"));
  db_ = nullptr;
  return {};
}

}  // namespace tile_tune::db
