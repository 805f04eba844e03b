#include "db/recover.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/connection.h"
#include "db/rows.h"

namespace tile_tune::db {
namespace {

/// Where the pages do not say how many rows there were: more than these are not looked for.
constexpr int64_t kMostRows = 100'000;
constexpr int64_t kSmallestRow = 64;  // bytes: an id and a digest

/// A row that cannot be read, not a reason to stop.
bool is_damage(const Diagnostic& error) { return error.code == "database-corrupt" || error.code == "database-error"; }

class Reading {
 public:
  Reading(sqlite3* db, int64_t bytes, Recovered& result)
      : db_(db), end_(std::max(kMostRows, bytes / kSmallestRow)), result_(result) {}

  /// Every row of a table ("trial t") that can be read, in the order they were put in. Rows have numbers without gaps:
  /// behind one that cannot be read the next number is tried.
  template <typename Take>
  Result<void> each(std::string_view columns, const std::string& table, const std::string& joined, const Take& take) {
    const char alias = table.back();
    Statement select(db_, fmt::format("SELECT {0}, {1}.rowid FROM {2} NOT INDEXED {3} WHERE {1}.rowid > ?1 "
                                      "ORDER BY {1}.rowid",
                                      columns, alias, table, joined));
    int missed = 0;
    for (int64_t last = 0; last < end_; ++last, ++missed) {
      select.rewind().bind(last);
      while (true) {
        const auto more = select.step();
        if (!more && !is_damage(more.error())) return tl::unexpected(more.error());
        if (!more) break;
        result_.unreadable += missed;
        missed = 0;
        if (!*more) return {};
        Cursor cursor(select);
        TILE_TUNE_CHECK(take(cursor));
        const int64_t row = cursor.integer();
        if (row > last && row < end_) last = row;  // else its number is damaged, too
      }
    }
    result_.cut_off = true;
    return {};
  }

 private:
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

/// The winners of these trials: looked up one by one, since the table has no numbers to step over damage by.
Result<void> each_winner(sqlite3* db, const std::vector<std::string>& trials, const RecordVisitor& visitor,
                         Recovered& result) {
  Statement select(db, "SELECT w.trial, w.workload, w.accepted, w.digest FROM winner w WHERE w.trial = ?1");
  for (const std::string& trial : trials) {
    const auto found = select.rewind().bind(Id{trial}).step();
    if (!found && !is_damage(found.error())) return tl::unexpected(found.error());
    if (!found) result.cut_off = true;
    if (!found || !*found) continue;
    Cursor cursor(select);
    const WinnerRow winner{cursor.hex(), cursor.hex(), cursor.integer()};
    TILE_TUNE_CHECK(visitor({cursor.hex(), winner}));
  }
  return {};
}

/// What the digests of records say is left to who takes them in.
Result<void> each_record(sqlite3* db, int64_t bytes, const RecordVisitor& visitor, Damaged& damaged,
                         Recovered& result) {
  Reading reading(db, bytes, result);
  TILE_TUNE_CHECK(
      reading.each(kProgramColumns, "program p", "", handing_out(visitor, damaged, read_program, [](ProgramRow row) {
                     return Record{program_id(row), row};
                   })));
  TILE_TUNE_CHECK(
      reading.each(kTargetColumns, "target g", "", handing_out(visitor, damaged, read_target, [](TargetRow row) {
                     return Record{target_id(row), row};
                   })));
  TILE_TUNE_CHECK(reading.each(kToolColumns, "tool l", "", handing_out(visitor, damaged, read_tool, [](ToolRow row) {
                                 return Record{tool_id(row), row};
                               })));
  TILE_TUNE_CHECK(
      reading.each(kSessionColumns, "session s", "", handing_out(visitor, damaged, read_session, record_of)));
  TILE_TUNE_CHECK(reading.each("c.id, c.json", "schedule c", "", [&](Cursor& cursor) {
    ScheduleRow row{cursor.hex(), cursor.text()};
    return visitor({row.id, row});
  }));
  std::vector<std::string> trials;
  // In place of what a trial is otherwise joined with: those tables may be damaged themselves.
  const std::string alone =
      "CROSS JOIN (SELECT x'' AS program, x'' AS target, x'' AS tool) s CROSS JOIN (SELECT '' AS json) c "
      "CROSS JOIN (SELECT NULL AS trial) w";
  TILE_TUNE_CHECK(reading.each(kTrialColumns, "trial t", alone, [&](Cursor& cursor) {
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
  for (const auto& record : damaged) result.refused.push_back(record + ": its content does not match its digest");
  result.refused.insert(result.refused.end(), absorbed.refused.begin(), absorbed.refused.end());
  return result;
}

}  // namespace tile_tune::db
