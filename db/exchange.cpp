// Handing out all records, and taking records in.
#include "db/exchange.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <thread>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "db/insert.h"
#include "db/sense.h"
#include "db/state.h"
#include "db/too_long.h"
#include "frontend/ir/json.h"

namespace tile_tune::db {
namespace {

/// A winner of a later time than now would stay the best whatever is found until then. Clocks differ by a little.
constexpr int64_t kAheadMs = 24 * 3'600'000;

/// Records of one transaction, which takes some 80 ms for them (two Zen 4 cores; all of 100,000 took 7.8 s): nobody
/// else writes meanwhile. Then the lock is free for long enough that who waits for it gets it (connection.cpp: they
/// look every 2 ms).
constexpr size_t kChunk = 1'000;
constexpr std::chrono::milliseconds kPause(10);

template <typename Read>
Result<void> each_row(sqlite3* db, const std::string& sql, const Read& read) {
  Statement select(db, sql);
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return {};
    Cursor cursor(select);
    TILE_TUNE_CHECK(read(cursor));
  }
}

Result<void> each_session(sqlite3* db, const RecordVisitor& visitor, Damaged& damaged) {
  return each_row(db, fmt::format("SELECT {} FROM session s ORDER BY s.id", kSessionColumns),
                  [&](Cursor& cursor) -> Result<void> {
                    auto session = read_session(cursor, damaged);
                    if (!session) return {};
                    if (session->row.state == "running") session->row.state = "aborted";
                    const std::string digest = session_digest(session->key, session->row);
                    return visitor({digest, SessionRecord{std::move(session->key), std::move(session->row)}});
                  });
}

Result<void> each_trial(sqlite3* db, const RecordVisitor& visitor, Damaged& damaged) {
  // LEFT: of a trial without its session the digest tells.
  return each_row(db,
                  fmt::format("SELECT {} FROM trial t LEFT JOIN session s ON s.id = t.session {} "
                              "ORDER BY t.session, t.sequence, t.id",
                              kTrialColumns, kTrialJoins),
                  [&](Cursor& cursor) -> Result<void> {
                    auto trial = read_trial(cursor, damaged);
                    if (!trial) return {};
                    trial->trial.schedule_json.clear();
                    trial->trial.chosen = false;
                    return visitor({trial->id, TrialRecord{trial->session, std::move(trial->trial)}});
                  });
}

Result<void> each_winner(sqlite3* db, const RecordVisitor& visitor, Damaged& damaged) {
  return each_row(db,
                  "SELECT w.trial, w.workload, w.accepted, w.digest, t.id IS NOT NULL FROM winner w LEFT JOIN trial t "
                  "ON t.id = w.trial ORDER BY w.workload, w.accepted, w.trial",
                  [&](Cursor& cursor) -> Result<void> {
                    WinnerRow winner{cursor.hex(), cursor.hex(), cursor.integer()};
                    const std::string digest = cursor.hex();
                    const bool has_trial = cursor.integer() != 0;
                    if (has_trial && winner_digest(winner.trial, winner.workload, winner.accepted_ms) == digest)
                      return visitor({digest, winner});
                    note_damaged(damaged, "winner", winner.trial);
                    return {};
                  });
}

/// What is wrong with a record, or nothing.
using Complaint = std::string;

/// Takes records in, one by one, within one transaction.
class Intake {
 public:
  Intake(sqlite3* db, Damaged& damaged, Absorbed& result) : db_(db), damaged_(damaged), result_(result) {}

  Result<void> take(const Record& record) {
    TILE_TUNE_TRY(complaint,
                  std::visit([&](const auto& content) { return add(record.digest, content); }, record.content));
    if (complaint.empty()) return {};
    const std::string place = record.place.empty() ? "" : fmt::format(" ({})", record.place);
    result_.refused.push_back(
        {fmt::format("{} {}{}", kind_name(record.content.index()), record.digest, place), complaint});
    return {};
  }

 private:
  static Complaint damaged() { return "its content does not match its digest"; }
  /// Nothing, where the time may have been.
  Complaint complaint_of(int64_t time_ms) const {
    if (time_ms < 0) return "it is dated before 1970";
    if (time_ms <= latest_ms_) return "";
    return fmt::format("it is dated {:.1f} days ahead of this machine's clock",
                       static_cast<double>(time_ms - latest_ms_ + kAheadMs) / kAheadMs);
  }

  /// Nothing, unless no machine can have run the program, or have counted what it does. Forms that this version cannot
  /// read are another's business.
  static Complaint complaint_of(const ProgramRow& row) {
    const auto program = ir::program_from_json(nlohmann::json::parse(row.canonical_json, nullptr, false));
    return program || program.error().code != "tensor-too-large" ? nonsense_in(row) : program.error().message;
  }

  Result<Complaint> count(Result<bool> added) {
    if (!added) return tl::unexpected(added.error());
    ++(*added ? result_.added : result_.known);
    return Complaint();
  }

  Result<Complaint> add(const std::string& id, const ProgramRow& row) {
    if (program_id(row) != id) return damaged();
    if (auto complaint = complaint_of(row); !complaint.empty()) return complaint;
    return count(insert_program(db_, id, row));
  }
  Result<Complaint> add(const std::string& id, const TargetRow& row) {
    if (target_id(row) != id) return damaged();
    if (auto complaint = nonsense_in(row); !complaint.empty()) return complaint;
    return count(insert_target(db_, id, row));
  }
  Result<Complaint> add(const std::string& id, const ToolRow& row) {
    if (tool_id(row) != id) return damaged();
    if (auto complaint = nonsense_in(row); !complaint.empty()) return complaint;
    return count(insert_tool(db_, id, row));
  }
  Result<Complaint> add(const std::string& id, const ScheduleRow& row) {
    if (row.id != id || base::sha256_hex(row.json) != id) return damaged();
    return count(insert_schedule(db_, row));
  }
  Result<Complaint> add(const std::string& digest, const SessionRecord& session);
  Result<Complaint> add(const std::string& id, const TrialRecord& trial);
  Result<Complaint> add(const std::string& digest, const WinnerRow& winner);

  Result<bool> exists(std::string_view sql, const std::string& id) { return Statement(db_, sql).bind(Id{id}).step(); }

  sqlite3* db_;
  Damaged& damaged_;
  Absorbed& result_;
  const int64_t latest_ms_ = now_ms() + kAheadMs;
  std::optional<StoredSession> session_;  // of the last trial: they come session by session
};

Result<std::optional<StoredSession>> find_session(sqlite3* db, const std::string& id, Damaged& damaged) {
  static const std::string sql = fmt::format("SELECT {} FROM session s WHERE s.id = ?1", kSessionColumns);
  Statement select(db, sql);
  TILE_TUNE_TRY(found, select.bind(Id{id}).step());
  if (!found) return std::nullopt;
  Cursor cursor(select);
  return read_session(cursor, damaged);
}

Result<Complaint> Intake::add(const std::string& digest, const SessionRecord& session) {
  const auto& [key, row] = session;
  const bool proper = is_session_id(row.id) && (row.state == "done" || row.state == "aborted");
  if (!proper || session_digest(key, row) != digest) return damaged();
  if (auto complaint = complaint_of(row.created_ms); !complaint.empty()) return complaint;
  TILE_TUNE_TRY(program, exists("SELECT 1 FROM program WHERE id = ?1", key.program));
  TILE_TUNE_TRY(target, exists("SELECT 1 FROM target WHERE id = ?1", key.target));
  TILE_TUNE_TRY(tool, exists("SELECT 1 FROM tool WHERE id = ?1", key.tool));
  if (!program || !target || !tool) return Complaint("its program, target or tool is missing");
  TILE_TUNE_TRY(is_new, insert_session(db_, key, row));
  if (is_new) return count(is_new);
  TILE_TUNE_TRY(known, find_session(db_, row.id, damaged_));
  if (!known || session_digest(known->key, known->row) != digest) return Complaint("another session has its id");
  ++result_.known;
  // Done stays done: the other copy was taken before, or never went on.
  if (row.state == "done")
    TILE_TUNE_CHECK(Statement(db_, "UPDATE main.session SET state = 'done' WHERE id = ?1 AND state = 'aborted'")
                        .bind(Id{row.id})
                        .run());
  return Complaint();
}

Result<Complaint> Intake::add(const std::string& id, const TrialRecord& record) {
  const auto& [session, trial] = record;
  if (!session_ || session_->row.id != session) {
    TILE_TUNE_TRY(found, find_session(db_, session, damaged_));
    session_ = std::move(found);
  }
  if (!session_) return Complaint("its session is missing");
  if (trial_id(session_->key, session, trial) != id) return damaged();
  if (auto complaint = complaint_of(trial.created_ms); !complaint.empty()) return complaint;
  if (auto complaint = nonsense_in(trial); !complaint.empty()) return complaint;
  TILE_TUNE_TRY(schedule, exists("SELECT 1 FROM schedule WHERE id = ?1", trial.schedule_id));
  if (!schedule) return Complaint("its schedule is missing");
  TILE_TUNE_TRY(is_new, insert_trial(db_, id, session, trial));
  if (is_new) {
    Statement rival(db_, "SELECT 1 FROM trial WHERE session = ?1 AND sequence = ?2 AND id <> ?3");
    TILE_TUNE_TRY(conflict, rival.bind(Id{session}, trial.sequence, Id{id}).step());
    result_.conflicts += conflict;
  }
  return count(is_new);
}

Result<Complaint> Intake::add(const std::string& digest, const WinnerRow& winner) {
  if (winner_digest(winner.trial, winner.workload, winner.accepted_ms) != digest) return damaged();
  if (auto complaint = complaint_of(winner.accepted_ms); !complaint.empty()) return complaint;
  static const std::string sql = fmt::format(
      "SELECT {}, p.workload FROM trial t JOIN session s ON s.id = t.session "
      "JOIN program p ON p.id = s.program {} WHERE t.id = ?1",
      kTrialColumns, kTrialJoins);
  Statement select(db_, sql);
  TILE_TUNE_TRY(found, select.bind(Id{winner.trial}).step());
  if (!found) return Complaint("its trial is missing");
  Cursor cursor(select);
  const auto trial = read_trial(cursor, damaged_);
  if (!trial || cursor.hex() != winner.workload || !may_be_chosen(trial->trial))
    return Complaint("its trial cannot be the best of this program");
  TILE_TUNE_TRY(added, insert_winner(db_, winner));
  if (!added) {
    // Copies that say different times: the later one, whichever comes first.
    Statement update(db_, "UPDATE main.winner SET accepted = ?2, digest = ?3 WHERE trial = ?1 AND accepted < ?2");
    TILE_TUNE_CHECK(update.bind(Id{winner.trial}, winner.accepted_ms, Id{digest}).run());
  }
  return count(added);
}

}  // namespace

const char* kind_name(size_t index) {
  static constexpr std::array kNames = {"program", "target", "tool", "session", "schedule", "trial", "winner"};
  static_assert(kNames.size() == std::variant_size_v<Content>);
  return kNames.at(index);
}

Result<void> Database::each_record(const RecordVisitor& visitor) {
  sqlite3* db = state_->db.get();
  Damaged& damaged = state_->damaged;
  TILE_TUNE_CHECK(leave_out_too_long(db, damaged));
  TILE_TUNE_TRY(snapshot, Transaction::begin(db, Transaction::Kind::Read));
  TILE_TUNE_CHECK(each_row(db, fmt::format("SELECT {} FROM program p ORDER BY p.id", kProgramColumns),
                           [&](Cursor& cursor) -> Result<void> {
                             auto row = read_program(cursor, damaged);
                             return row ? visitor({program_id(*row), *row}) : Result<void>();
                           }));
  TILE_TUNE_CHECK(each_row(db, fmt::format("SELECT {} FROM target g ORDER BY g.id", kTargetColumns),
                           [&](Cursor& cursor) -> Result<void> {
                             auto row = read_target(cursor, damaged);
                             return row ? visitor({target_id(*row), *row}) : Result<void>();
                           }));
  TILE_TUNE_CHECK(each_row(db, fmt::format("SELECT {} FROM tool l ORDER BY l.id", kToolColumns),
                           [&](Cursor& cursor) -> Result<void> {
                             auto row = read_tool(cursor, damaged);
                             return row ? visitor({tool_id(*row), *row}) : Result<void>();
                           }));
  TILE_TUNE_CHECK(each_session(db, visitor, damaged));
  TILE_TUNE_CHECK(each_row(db, "SELECT id, json FROM schedule ORDER BY id", [&](Cursor& cursor) -> Result<void> {
    ScheduleRow row{cursor.hex(), cursor.text()};
    if (base::sha256_hex(row.json) == row.id) return visitor({row.id, row});
    note_damaged(damaged, "schedule", row.id);
    return {};
  }));
  TILE_TUNE_CHECK(each_trial(db, visitor, damaged));
  return each_winner(db, visitor, damaged);
}

Result<Absorbed> Database::absorb(const RecordSource& source) {
  sqlite3* db = state_->db.get();
  if (is_read_only(db)) return tl::unexpected(sqlite_diagnostic(db, SQLITE_READONLY));
  TILE_TUNE_CHECK(leave_out_too_long(db, state_->damaged));
  Absorbed result;
  Intake intake(db, state_->damaged, result);
  std::vector<Record> chunk;
  const auto take_chunk = [&]() -> Result<void> {
    TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Write));
    for (const Record& record : chunk) TILE_TUNE_CHECK(intake.take(record));
    chunk.clear();
    return transaction.commit();
  };
  TILE_TUNE_CHECK(source([&](const Record& record) -> Result<void> {
    chunk.push_back(record);
    if (chunk.size() < kChunk) return {};
    TILE_TUNE_CHECK(take_chunk());
    std::this_thread::sleep_for(kPause);
    return {};
  }));
  TILE_TUNE_CHECK(take_chunk());
  return result;
}

}  // namespace tile_tune::db
