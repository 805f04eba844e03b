// Keeping the file small.
#include <fmt/format.h>

#include "db/state.h"

namespace tile_tune::db {
namespace {

Result<int64_t> file_bytes(sqlite3* db) {
  Statement size(db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
  TILE_TUNE_CHECK(size.step());
  return size.integer(0);
}

/// Sessions that are over and old enough, those that were broken off among them: most are never taken up again.
Result<std::vector<std::string>> sessions_over(sqlite3* db, int64_t older_than_ms) {
  Statement select(db, "SELECT id FROM session WHERE state <> 'running' AND created < ?1");
  select.bind(older_than_ms);
  std::vector<std::string> sessions;
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return sessions;
    sessions.push_back(select.hex(0));
  }
}

Result<int> thin(sqlite3* db, const std::string& session, const PruneRules& rules) {
  // A trial's id is a hash: its first byte picks the same even sample in every copy.
  Statement thinned(db,
                    "DELETE FROM main.trial WHERE id IN (SELECT t.id FROM trial t LEFT JOIN winner w ON w.trial = t.id "
                    "WHERE t.session = ?1 AND w.trial IS NULL AND t.origin NOT IN ('final', 'default') "
                    "AND t.outcome IN ('ok', 'slow', 'duplicate') "
                    // Who takes the session up again counts on from its last, and has taken it up by now perhaps.
                    "AND t.sequence < (SELECT max(l.sequence) FROM trial l WHERE l.session = ?1) "
                    "AND EXISTS (SELECT 1 FROM session s WHERE s.id = ?1 AND s.state <> 'running') "
                    "AND (16 * instr('123456789ABCDEF', substr(hex(t.id), 1, 1)) + "
                    "instr('123456789ABCDEF', substr(hex(t.id), 2, 1))) % ?3 <> 0 "
                    "AND t.id NOT IN (SELECT f.id FROM trial f WHERE f.session = ?1 AND f.outcome = 'ok' "
                    "ORDER BY f.ratio DESC, f.id LIMIT ?2))");
  TILE_TUNE_CHECK(thinned.bind(Id{session}, rules.keep_fastest, rules.keep_share).run());
  return sqlite3_changes(db);
}

}  // namespace

Result<Pruned> Database::prune(const PruneRules& rules) {
  sqlite3* db = state_->db.get();
  if (is_read_only(db)) return tl::unexpected(sqlite_diagnostic(db, SQLITE_READONLY));
  Pruned pruned;
  TILE_TUNE_TRY(before, file_bytes(db));
  pruned.bytes_before = before;
  TILE_TUNE_TRY(sessions, sessions_over(db, rules.older_than_ms));
  // Each session by itself, so that others can write in between.
  for (const auto& session : sessions) {
    TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Write));
    TILE_TUNE_TRY(count, thin(db, session, rules));
    TILE_TUNE_CHECK(transaction.commit());
    pruned.trials += count;
  }
  {
    TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Write));
    TILE_TUNE_CHECK(Statement(db,
                              "DELETE FROM main.schedule AS c WHERE NOT EXISTS "
                              "(SELECT 1 FROM main.trial t WHERE t.schedule = c.id)")
                        .run());
    pruned.schedules = sqlite3_changes(db);
    TILE_TUNE_CHECK(transaction.commit());
  }
  TILE_TUNE_CHECK(execute(db, "VACUUM"));
  TILE_TUNE_TRY(after, file_bytes(db));
  pruned.bytes_after = after;
  return pruned;
}

}  // namespace tile_tune::db
