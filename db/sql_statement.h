// Prepared statements: SQLite's C calls with owned handles, typed values and errors as Diagnostics.
//
// Errors of preparing and binding are kept and come out of the next step(), so that a statement is written as
// Statement(db, "SELECT ... ?").bind(a, b) and checked once.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::db {

/// The last error of a connection in the user's words, with the file's path (database.h lists the codes).
Diagnostic sqlite_diagnostic(sqlite3* db, int result_code);

/// The code of what a value says that is longer than SQLite may hand out here.
inline constexpr const char* kTooLong = "value-too-long";

/// A path as one word of a shell's command, for notes.
std::string in_quotes(const std::string& path);

/// Runs SQL that returns no rows and has no parameters.
Result<void> execute(sqlite3* db, const std::string& sql);

/// A hash or id: hexadecimal text here, a blob of half the size in the file.
struct Id {
  std::string_view hex;
};

class Statement {
 public:
  Statement(sqlite3* db, std::string_view sql);

  /// Values of ?1, ?2, ... A double that is not a number is stored as NULL.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    int index = 0;
    (bind_at(++index, values), ...);
    return *this;
  }
  /// Makes it ready to be bound and run again.
  Statement& rewind() {
    sqlite3_reset(handle_.get());
    return *this;
  }
  /// True: a row is there to read. False: no more rows.
  Result<bool> step();
  /// For statements that return no rows.
  Result<void> run();

  int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const;  // NULL is NaN
  std::string text(int column) const;
  std::optional<std::string> text_if_any(int column) const;  // nothing: NULL
  std::string hex(int column) const;
  std::vector<double> reals(int column) const;        // packed little-endian float64
  std::vector<std::string> hashes(int column) const;  // packed SHA-256 hashes

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  void bind_at(int index, int64_t value);
  void bind_at(int index, int value) { bind_at(index, static_cast<int64_t>(value)); }
  void bind_at(int index, double value);
  void bind_at(int index, const std::string& value);
  void bind_at(int index, const std::optional<std::string>& value);
  void bind_at(int index, Id value);
  void bind_at(int index, const std::vector<double>& values);
  void bind_at(int index, const std::vector<std::string>& hashes);
  void bind_bytes(int index, std::string_view bytes);
  void note(int result_code);

  sqlite3* db_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  int error_ = SQLITE_OK;  // the first of preparing or binding
};

/// BEGIN ... COMMIT; rolled back unless commit() succeeded.
class Transaction {
 public:
  enum class Kind {
    Read,
    Write
  };  // Write takes the write lock at once, so that it cannot fail half-way for want of it
  static Result<Transaction> begin(sqlite3* db, Kind kind);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(sqlite3* db) : db_(db) {}
  sqlite3* db_;
};

}  // namespace tile_tune::db
