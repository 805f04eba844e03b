#include "db/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "db/connection.h"
#include "db/rows.h"

namespace tile_tune::db {
namespace {

/// Where the pages do not say how many rows there were: more than these are not looked for.
constexpr int64_t kMostRows = 100'000;
constexpr int64_t kSmallestRow = 64;  // bytes: an id and a digest

/// A row that cannot be read, not a reason to stop.
bool is_damage(const Diagnostic& error) {
  return error.code == "database-corrupt" || error.code == "database-error" || error.code == kTooLong;
}

/// How many rows a table has by the index of its names. Nothing where that cannot be read to its end.
std::optional<size_t> count_named(sqlite3* db, const std::string& table) {
  Statement select(db, fmt::format("SELECT rowid FROM {0} INDEXED BY sqlite_autoindex_{0}_1", table));
  std::set<int64_t> rows;
  while (true) {
    const auto more = select.step();
    if (!more) return std::nullopt;
    if (!*more) return rows.size();  // a damaged page may be met twice
    rows.insert(select.integer(0));
  }
}

class Reading {
 public:
  Reading(sqlite3* db, int64_t bytes, Recovered& result)
      : db_(db), end_(std::max(kMostRows, bytes / kSmallestRow)), result_(result) {}

  /// Every row of a table ("trial", "t") that can be read, in the order they were put in. Behind a row that cannot be
  /// read the next number is tried. How many were passed over, without an error perhaps, the table's index tells.
  template <typename Take>
  Result<void> each(std::string_view columns, const std::string& table, const std::string& alias,
                    const std::string& joined, const Take& take) {
    const auto named = count_named(db_, table);
    std::set<int64_t> seen;
    Statement select(db_, fmt::format("SELECT {0}, {1}.rowid FROM {2} {1} NOT INDEXED {3} WHERE {1}.rowid > ?1 "
                                      "ORDER BY {1}.rowid",
                                      columns, alias, table, joined));
    TILE_TUNE_TRY(missed, scan(select, take, seen));
    if (!named) {
      result_.unreadable += missed.rows;
      result_.cut_off |= missed.cut_off;
      return {};
    }
    result_.unreadable += static_cast<int>(*named - std::min(*named, seen.size()));
    return {};
  }

 private:
  struct Missed {
    int rows = 0;          // with readable ones behind them
    bool cut_off = false;  // none could be read behind the last
  };

  template <typename Take>
  Result<Missed> scan(Statement& select, const Take& take, std::set<int64_t>& seen) {
    Missed missed;
    int now = 0;
    for (int64_t last = 0; last < end_; ++last, ++now) {
      select.rewind().bind(last);
      while (true) {
        const auto more = select.step();
        if (!more && !is_damage(more.error())) return tl::unexpected(more.error());
        if (!more) break;
        missed.rows += now;
        now = 0;
        if (!*more) return missed;
        Cursor cursor(select);
        TILE_TUNE_CHECK(take(cursor));
        const int64_t row = cursor.integer();
        seen.insert(row);
        if (row > last && row < end_) last = row;  // else its number is damaged, too
      }
    }
    missed.cut_off = true;
    return missed;
  }

  sqlite3* db_;
  int64_t end_;
  Recovered& result_;
};

/// Hands out what a reader makes of a row.
template <typename Read, typename Make>
auto handing_out(const RecordVisitor& visitor, Damaged& damaged, const Read& read, const Make& make) {
  return [&visitor, &damaged, read, make](Cursor& cursor) -> Result<void> {
    auto row = read(cursor, damaged);
    return row ? visitor(make(*std::move(row))) : Result<void>();
  };
}

Record record_of(StoredSession session) {
  if (session.row.state == "running") session.row.state = "aborted";
  const std::string digest = session_digest(session.key, session.row);
  return {digest, SessionRecord{std::move(session.key), std::move(session.row)}};
}

/// All winners from the first on, as far as they can be read, then those of the trials among the rest: the table has no
/// numbers to step over damage by.
Result<void> each_winner(sqlite3* db, const std::vector<std::string>& trials, const RecordVisitor& visitor,
                         Recovered& result) {
  std::set<std::string> seen;
  const auto take = [&](Cursor cursor) -> Result<void> {
    const WinnerRow winner{cursor.hex(), cursor.hex(), cursor.integer()};
    return seen.insert(winner.trial).second ? visitor({cursor.hex(), winner}) : Result<void>();
  };
  const std::string columns = "SELECT w.trial, w.workload, w.accepted, w.digest FROM winner w ";
  Statement all(db, columns + "NOT INDEXED");
  auto more = all.step();
  for (; more && *more; more = all.step()) TILE_TUNE_CHECK(take(Cursor(all)));
  if (!more && !is_damage(more.error())) return tl::unexpected(more.error());
  result.cut_off |= !more;
  // By the table's own order: it finds its way where the pages that a scan goes through are lost.
  Statement one(db, columns + "WHERE w.trial = ?1");
  for (const std::string& trial : trials) {
    const auto found = one.rewind().bind(Id{trial}).step();
    if (!found && !is_damage(found.error())) return tl::unexpected(found.error());
    result.cut_off |= !found;
    if (found && *found) TILE_TUNE_CHECK(take(Cursor(one)));
  }
  return {};
}

/// What the digests of records say is left to who takes them in.
Result<void> each_record(sqlite3* db, int64_t bytes, const RecordVisitor& visitor, Damaged& damaged,
                         Recovered& result) {
  Reading reading(db, bytes, result);
  TILE_TUNE_CHECK(
      reading.each(kProgramColumns, "program", "p", "", handing_out(visitor, damaged, read_program, [](ProgramRow row) {
                     return Record{program_id(row), row};
                   })));
  TILE_TUNE_CHECK(
      reading.each(kTargetColumns, "target", "g", "", handing_out(visitor, damaged, read_target, [](TargetRow row) {
                     return Record{target_id(row), row};
                   })));
  TILE_TUNE_CHECK(reading.each(kToolColumns, "tool", "l", "", handing_out(visitor, damaged, read_tool, [](ToolRow row) {
                                 return Record{tool_id(row), row};
                               })));
  TILE_TUNE_CHECK(
      reading.each(kSessionColumns, "session", "s", "", handing_out(visitor, damaged, read_session, record_of)));
  TILE_TUNE_CHECK(reading.each("c.id, c.json", "schedule", "c", "", [&](Cursor& cursor) {
    ScheduleRow row{cursor.hex(), cursor.text()};
    return visitor({row.id, row});
  }));
  std::vector<std::string> trials;
  // In place of what a trial is otherwise joined with: those tables may be damaged themselves.
  const std::string alone =
      "CROSS JOIN (SELECT x'' AS program, x'' AS target, x'' AS tool) s CROSS JOIN (SELECT '' AS json) c "
      "CROSS JOIN (SELECT NULL AS trial) w";
  TILE_TUNE_CHECK(reading.each(kTrialColumns, "trial", "t", alone, [&](Cursor& cursor) {
    SessionKey key;
    StoredTrial stored = parse_trial(cursor, key);
    trials.push_back(stored.id);
    return visitor({stored.id, TrialRecord{stored.session, std::move(stored.trial)}});
  }));
  return each_winner(db, trials, visitor, result);
}

}  // namespace

Result<Recovered> recover(const std::filesystem::path& path, Database& fresh) {
  TILE_TUNE_TRY(db, open_damaged(path));
  std::error_code error;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path, error));
  Recovered result;
  Damaged damaged;
  TILE_TUNE_TRY(absorbed, fresh.absorb([&](const RecordVisitor& visitor) {
    return each_record(db.get(), bytes, visitor, damaged, result);
  }));
  result.saved = absorbed.added;
  for (const auto& record : damaged) result.refused.push_back({record, "its content does not match its digest"});
  result.refused.insert(result.refused.end(), absorbed.refused.begin(), absorbed.refused.end());
  return result;
}

}  // namespace tile_tune::db
