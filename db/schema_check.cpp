#include "db/schema_check.h"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <mutex>
#include <set>

#include "db/migrate.h"
#include "db/sql_statement.h"
#include "frontend/diagnostic/utf8.h"

namespace tile_tune::db {
namespace {

/// What kind of thing and its name, as in "index trial_session".
using Objects = std::map<std::string, std::string>;

/// Of the names in a message: a file may call its tables anything.
constexpr size_t kShownName = 60;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }

/// Behind the token, comment or blank that begins at `at`.
size_t end_of(std::string_view sql, size_t at) {
  const auto behind = [&](std::string_view closing, size_t from) {
    const size_t found = sql.find(closing, from);
    return found == std::string_view::npos ? sql.size() : found + closing.size();
  };
  const std::string_view rest = sql.substr(at);
  if (rest.starts_with("--")) return behind("\n", at);
  if (rest.starts_with("/*")) return behind("*/", at + 2);
  if (rest[0] == '\'' || rest[0] == '"' || rest[0] == '`') return behind(rest.substr(0, 1), at + 1);
  if (rest[0] == '[') return behind("]", at);
  size_t end = at + 1;
  if (is_word(rest[0]))
    while (end < sql.size() && is_word(sql[end])) ++end;
  return end;
}

Result<Objects> objects_of(sqlite3* db) {
  // Tables of statistics hold rows only, which ANALYZE writes.
  Statement select(db,
                   "SELECT type || ' ' || name, tbl_name, sql FROM sqlite_schema WHERE NOT "
                   "(type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4')) ORDER BY 1");
  Objects objects;
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return objects;
    objects[select.text(0)] = select.text(1) + ": " + sql_tokens(select.text(2));
  }
}

Result<Objects> made_by_migrations(int version) {
  static std::mutex mutex;
  static std::map<int, Objects> known;
  const std::lock_guard guard(mutex);
  if (const auto found = known.find(version); found != known.end()) return found->second;
  TILE_TUNE_TRY(fresh, schema_in_memory(version));
  TILE_TUNE_TRY(objects, objects_of(fresh.get()));
  return known[version] = std::move(objects);
}

std::string excerpt(const std::string& name) {
  const std::string text = printable(name);
  return text.size() <= kShownName ? text : text.substr(0, kShownName) + "...";
}

tl::unexpected<Diagnostic> foreign(sqlite3* db, const std::string& what) {
  const std::string path = sqlite3_db_filename(db, "main");
  return failure("foreign-schema", fmt::format("the tuning database {} is not as tile-tune made it: {}", path, what),
                 fmt::format("{}; its records can be taken over with: tile-tune db recover {} recovered.db",
                             "it was changed by another program, or is damaged", in_quotes(path)));
}

}  // namespace

std::string sql_tokens(std::string_view sql) {
  std::string tokens;
  for (size_t at = 0; at < sql.size();) {
    const size_t end = end_of(sql, at);
    std::string_view token = sql.substr(at, end - at);
    at = end;
    if (token.starts_with("--") || token.starts_with("/*") || std::isspace(static_cast<unsigned char>(token[0])))
      continue;
    if (token.size() > 1 && token[0] == '"' && token.back() == '"') token = token.substr(1, token.size() - 2);
    tokens.append(tokens.empty() ? "" : " ").append(token);
  }
  return tokens;
}

Result<void> check_schema(sqlite3* db, int version) {
  TILE_TUNE_TRY(expected, made_by_migrations(version));
  TILE_TUNE_TRY(found, objects_of(db));
  for (const auto& [name, definition] : found) {
    const auto ours = expected.find(name);
    if (ours == expected.end()) return foreign(db, fmt::format("it holds the unknown {}", excerpt(name)));
    if (ours->second != definition) return foreign(db, fmt::format("its {} is defined otherwise", excerpt(name)));
  }
  for (const auto& [name, definition] : expected)
    if (!found.contains(name)) return foreign(db, fmt::format("its {} is missing", excerpt(name)));
  return {};
}

Result<void> check_plain_tables(sqlite3* db) {
  TILE_TUNE_TRY(fresh, schema_in_memory(migrations().back().version));
  std::set<std::string> ours;
  Statement tables(fresh.get(), "SELECT name FROM sqlite_schema WHERE type = 'table'");
  while (true) {
    TILE_TUNE_TRY(more, tables.step());
    if (!more) break;
    ours.insert(tables.text(0));
  }
  // What SQLite has understood of the file's definitions, whatever pages they stand in.
  Statement others(db,
                   "SELECT l.type || ' ' || l.name, l.name FROM pragma_table_list l WHERE l.schema = 'main' AND "
                   "(l.type <> 'table' OR EXISTS (SELECT 1 FROM pragma_table_xinfo(l.name) c WHERE c.hidden <> 0))");
  while (true) {
    const auto more = others.step();
    if (!more || !*more) return {};  // what cannot be read says so where it is read
    if (ours.contains(others.text(1))) return foreign(db, fmt::format("{} computes its rows", excerpt(others.text(0))));
  }
}

}  // namespace tile_tune::db
