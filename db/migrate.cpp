#include "db/migrate.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <variant>

#include "db/connection.h"
#include "db/former_target.h"
#include "db/identity.h"
#include "db/schema_check.h"
#include "db/sql_statement.h"
#include "db/target_columns.h"

namespace tile_tune::db {
namespace {

constexpr int64_t kApplicationId = 0x5474756E;  // "Ttun" in the file's header, at offset 68

Result<int64_t> number(sqlite3* db, std::string_view sql) {
  Statement statement(db, sql);
  TILE_TUNE_CHECK(statement.step());
  return statement.integer(0);
}

/// The caller's transaction makes the answers belong together.
Result<int> read_version(sqlite3* db, int newest) {
  const std::string path = sqlite3_db_filename(db, "main");
  TILE_TUNE_TRY(application, number(db, "PRAGMA application_id"));
  TILE_TUNE_TRY(version, number(db, "PRAGMA user_version"));
  TILE_TUNE_TRY(tables, number(db, "SELECT count(*) FROM sqlite_schema"));
  const bool is_ours = application == kApplicationId;
  if ((is_ours && version == newest) || (tables == 0 && application == 0 && version == 0))
    return static_cast<int>(version);
  if (is_ours && version > newest) {
    return failure("database-newer",
                   fmt::format("the tuning database {} was written by a newer tile-tune (schema version {}, this one "
                               "knows up to {})",
                               path, version, newest),
                   "update tile-tune, or name another file with --db");
  }
  // A flipped bit makes one number of another: an update by the wrong one would fail half-way, or worse.
  const int actual = version_of_tables(db).value_or(0);  // another program's tables may need that program
  const bool names_none = is_ours && (version < 0 || (version == 0 && tables > 0));
  if (names_none || (actual > 0 && !(is_ours && version == actual))) {
    Diagnostic damaged = sqlite_diagnostic(db, SQLITE_CORRUPT);
    damaged.message += ": its header does not go with its tables";
    return tl::unexpected(std::move(damaged));
  }
  if (!is_ours) {
    return failure("not-a-database", fmt::format("{} is an SQLite database of another program", path),
                   "name another file with --db");
  }
  return static_cast<int>(version);
}

/// winner_digest(trial, workload, accepted) for migrations.
void digest_function(sqlite3_context* context, int, sqlite3_value** values) {
  const auto hex = [](sqlite3_value* value) {
    const auto* bytes = static_cast<const unsigned char*>(sqlite3_value_blob(value));
    std::string text;
    for (int i = 0; i < sqlite3_value_bytes(value); ++i) text += fmt::format("{:02x}", bytes[i]);
    return text;
  };
  const std::string digest = winner_digest(hex(values[0]), hex(values[1]), sqlite3_value_int64(values[2]));
  std::string bytes;
  for (size_t at = 0; at < digest.size(); at += 2)
    bytes += static_cast<char>(std::stoi(digest.substr(at, 2), nullptr, 16));
  sqlite3_result_blob(context, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
}

std::string text_of(sqlite3_value* value) {
  const unsigned char* data = sqlite3_value_text(value);
  return data == nullptr ? "" : std::string(reinterpret_cast<const char*>(data), sqlite3_value_bytes(value));
}

using Column = std::variant<std::string, int64_t, std::optional<std::string>>;

Column column_of(const TargetRow& row, std::string_view name) {
  const CodeColumns code = code_columns(row);
  const codegen::Target& machine = row.machine;
  const std::map<std::string_view, Column> columns = {{"architecture", code.architecture},
                                                      {"os", code.os},
                                                      {"features", code.features},
                                                      {"scalable_bits", code.scalable_bits},
                                                      {"device", code.device},
                                                      {"deterministic", code.deterministic},
                                                      {"tuned_for", code.tuned_for},
                                                      {"vector_bytes", machine.vector_bytes},
                                                      {"vector_registers", machine.vector_registers},
                                                      {"l1_bytes", machine.l1_bytes},
                                                      {"l2_bytes", machine.l2_bytes},
                                                      {"l3_bytes", machine.l3_bytes},
                                                      {"former_text", row.former_text},
                                                      {"former_facts", row.former_facts}};
  return columns.at(name);
}

/// target_column(name, halide, cpu_model, features, threads) for migrations.
void column_function(sqlite3_context* context, int, sqlite3_value** values) {
  const auto threads = static_cast<int>(sqlite3_value_int64(values[4]));
  const TargetRow row = target_row({text_of(values[1]), text_of(values[2]), text_of(values[3]), threads});
  const auto give = [&](const std::string& text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  };
  const Column column = column_of(row, text_of(values[0]));
  if (const auto* number = std::get_if<int64_t>(&column)) return sqlite3_result_int64(context, *number);
  if (const auto* text = std::get_if<std::string>(&column)) return give(*text);
  if (const auto& any = std::get<std::optional<std::string>>(column)) give(*any);
}

/// What SQLite cannot compute by itself.
void add_functions(sqlite3* db) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  sqlite3_create_function(db, "winner_digest", 3, kFlags, nullptr, digest_function, nullptr, nullptr);
  sqlite3_create_function(db, "target_column", 5, kFlags, nullptr, column_function, nullptr, nullptr);
}

/// "table.column" of all tables but SQLite's own.
Result<std::vector<std::string>> columns_of(sqlite3* db) {
  Statement select(db,
                   "SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c "
                   "WHERE t.type = 'table' AND t.name NOT GLOB 'sqlite_*' ORDER BY t.name, c.cid");
  std::vector<std::string> columns;
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return columns;
    columns.push_back(select.text(0));
  }
}

}  // namespace

Result<int> schema_version(sqlite3* db, int newest) {
  TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Read));
  return read_version(db, newest);
}

Result<int> checked_version(sqlite3* db, int newest) {
  TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Read));
  TILE_TUNE_TRY(version, read_version(db, newest));
  if (version > 0) TILE_TUNE_CHECK(check_schema(db, version));
  return version;
}

Result<Connection> schema_in_memory(int version) {
  sqlite3* handle = nullptr;
  sqlite3_open(":memory:", &handle);
  Connection fresh(handle);
  add_functions(handle);
  for (const Migration& migration : migrations())
    if (migration.version <= version) TILE_TUNE_CHECK(execute(handle, std::string(migration.sql)));
  return fresh;
}

Result<int> version_of_tables(sqlite3* db) {
  TILE_TUNE_TRY(found, columns_of(db));
  int version = 0;
  for (const Migration& migration : migrations()) {
    TILE_TUNE_TRY(fresh, schema_in_memory(migration.version));
    TILE_TUNE_TRY(columns, columns_of(fresh.get()));
    if (columns == found) version = migration.version;
  }
  return version;
}

Result<void> migrate(sqlite3* db, std::span<const Migration> migrations) {
  const int newest = migrations.back().version;
  TILE_TUNE_TRY(before, schema_version(db, newest));
  if (before == newest) return {};
  add_functions(db);
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
