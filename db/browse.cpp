// What `db list`, `db show` and `db stats` print.
#include <fmt/format.h>

#include "base/sha256.h"
#include "db/state.h"
#include "db/too_long.h"

namespace tile_tune::db {
namespace {

constexpr size_t kEntryDigits = 12;  // 48 bits: two of a million entries collide with a chance of 1 in 560
constexpr size_t kFewestDigits = 4;  // shorter ones are more likely a mistyped name

/// A row of `db list` with the ids behind it.
struct Entry {
  std::string workload, target;
  ListRow row;
};

Result<std::vector<Entry>> entries(sqlite3* db, Damaged& damaged) {
  // SQLite takes the plain columns of a group from the row that has the maximum: the latest session.
  static const std::string sql = fmt::format(
      "SELECT {}, {}, p.workload, max(s.created), count(*), "
      "sum((SELECT count(*) FROM trial t WHERE t.session = s.id)) "
      "FROM session s JOIN program p ON p.id = s.program JOIN target g ON g.id = s.target "
      "WHERE EXISTS (SELECT 1 FROM trial t WHERE t.session = s.id) "  // else stopped before its first trial: a full
                                                                      // disk
      "GROUP BY p.workload, s.target ORDER BY max(s.created) DESC, p.workload, s.target",
      kProgramColumns, kTargetColumns);
  Statement select(db, sql);
  std::vector<Entry> all;
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return all;
    Cursor cursor(select);
    auto program = read_program(cursor, damaged);
    auto target = read_target(cursor, damaged);
    if (!program || !target) continue;
    Entry entry{cursor.hex(), target_id(*target), {}};
    ListRow& row = entry.row;
    row.id = base::sha256_hex(entry.workload + entry.target).substr(0, kEntryDigits);
    row.created_ms = cursor.integer();
    row.sessions = cursor.small();
    row.trials = cursor.small();
    TILE_TUNE_TRY(best, find_best(db, entry.workload, *target, "", damaged));
    if (best && best->same_target) row.best = *std::move(best);
    row.program = *std::move(program);
    row.target = *std::move(target);
    all.push_back(std::move(entry));
  }
}

Result<std::vector<SessionRow>> sessions_of(sqlite3* db, const Entry& entry, Damaged& damaged) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM program p CROSS JOIN session s ON s.program = p.id WHERE p.workload = ?1 AND "
      "s.target = ?2 AND EXISTS (SELECT 1 FROM trial t WHERE t.session = s.id) ORDER BY s.created, s.id",
      kSessionColumns);
  Statement select(db, sql);
  select.bind(Id{entry.workload}, Id{entry.target});
  std::vector<SessionRow> sessions;
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return sessions;
    Cursor cursor(select);
    if (auto stored = read_session(cursor, damaged)) sessions.push_back(std::move(stored->row));
  }
}

Result<std::map<std::string, int>> outcomes_of(sqlite3* db, const Entry& entry) {
  Statement select(
      db,
      "SELECT t.outcome, count(*) FROM program p CROSS JOIN session s ON s.program = p.id CROSS JOIN trial "
      "t ON t.session = s.id WHERE p.workload = ?1 AND s.target = ?2 GROUP BY t.outcome");
  select.bind(Id{entry.workload}, Id{entry.target});
  std::map<std::string, int> outcomes;
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return outcomes;
    outcomes[select.text(0)] = static_cast<int>(select.integer(1));
  }
}

/// `sessions` are oldest first.
Result<std::vector<StoredTrial>> last_finals(sqlite3* db, const std::vector<SessionRow>& sessions, Damaged& damaged) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM session s JOIN trial t ON t.session = s.id {} WHERE s.id = ?1 AND t.origin = 'final' "
      "ORDER BY t.sequence",
      kTrialColumns, kTrialJoins);
  std::vector<StoredTrial> finals;
  for (auto session = sessions.rbegin(); session != sessions.rend() && finals.empty(); ++session) {
    Statement select(db, sql);
    select.bind(Id{session->id});
    TILE_TUNE_TRY(trials, read_all(select, read_trial, damaged));
    finals = std::move(trials);
  }
  return finals;
}

bool is_called(const ProgramRow& program, const std::string& name) {
  return program.name == name || (program.frontend == "einsum" && program.source == name);
}

}  // namespace

Result<std::vector<StoredTrial>> Database::finals(const ProgramRow& program, const TargetRow& target) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::vector<StoredTrial>> {
    static const std::string sql = fmt::format(
        "SELECT {} FROM program p CROSS JOIN session s ON s.program = p.id CROSS JOIN trial t ON t.session = s.id {} "
        "WHERE p.workload = ?1 AND s.target = ?2 AND t.origin = 'final' ORDER BY s.created, s.id, t.sequence",
        kTrialColumns, kTrialJoins);
    Statement select(state_->db.get(), sql);
    select.bind(Id{workload_id(program)}, Id{target_id(target)});
    return read_all(select, read_trial, state_->damaged);
  });
}

Result<std::vector<ListRow>> Database::list() {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::vector<ListRow>> {
    TILE_TUNE_TRY(snapshot, Transaction::begin(state_->db.get(), Transaction::Kind::Read));
    TILE_TUNE_TRY(all, entries(state_->db.get(), state_->damaged));
    std::vector<ListRow> rows;
    for (Entry& entry : all) rows.push_back(std::move(entry.row));
    return rows;
  });
}

Result<std::vector<ShowRow>> Database::show(const std::string& name_or_id) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::vector<ShowRow>> {
    sqlite3* db = state_->db.get();
    TILE_TUNE_TRY(snapshot, Transaction::begin(db, Transaction::Kind::Read));
    TILE_TUNE_TRY(all, entries(db, state_->damaged));
    std::vector<ShowRow> rows;
    for (Entry& entry : all) {
      const bool by_id = name_or_id.size() >= kFewestDigits && entry.row.id.starts_with(name_or_id);
      if (!by_id && !is_called(entry.row.program, name_or_id)) continue;
      ShowRow row;
      TILE_TUNE_TRY(sessions, sessions_of(db, entry, state_->damaged));
      TILE_TUNE_TRY(outcomes, outcomes_of(db, entry));
      TILE_TUNE_TRY(finals, last_finals(db, sessions, state_->damaged));
      for (SessionRow& session : sessions) {
        if (session.state == "running" && !state_->at_work(session.id)) session.state = "aborted";
      }
      row.summary = std::move(entry.row);
      row.sessions = std::move(sessions);
      row.outcomes = std::move(outcomes);
      row.finals = std::move(finals);
      rows.push_back(std::move(row));
    }
    if (rows.empty()) {
      return failure("no-such-record", fmt::format("nothing in the tuning database is called {}", name_or_id),
                     "`tile-tune db list` prints names and ids");
    }
    return rows;
  });
}

Result<Counts> Database::counts() {
  sqlite3* db = state_->db.get();
  TILE_TUNE_TRY(snapshot, Transaction::begin(db, Transaction::Kind::Read));
  Statement sums(db,
                 "SELECT (SELECT count(*) FROM program), (SELECT count(*) FROM target), (SELECT count(*) FROM tool), "
                 "(SELECT count(*) FROM schedule), (SELECT count(*) FROM session), (SELECT count(*) FROM trial), "
                 "(SELECT count(DISTINCT workload) FROM winner)");
  TILE_TUNE_CHECK(sums.step());
  Counts counts{sums.integer(0), sums.integer(1), sums.integer(2), sums.integer(3),
                sums.integer(4), sums.integer(5), sums.integer(6), {}};
  Statement select(db, "SELECT outcome, count(*) FROM trial GROUP BY outcome");
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return counts;
    counts.outcomes[select.text(0)] = select.integer(1);
  }
}

}  // namespace tile_tune::db
