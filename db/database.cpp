// Opening, and everything that writes.
#include "db/database.h"

#include <fmt/format.h>
#include <sodium.h>

#include <chrono>

#include "base/sha256.h"
#include "db/insert.h"
#include "db/state.h"

namespace tile_tune::db {
namespace {

constexpr size_t kSessionDigits = 32;

std::string random_session_id() {
  unsigned char bytes[kSessionDigits / 2];
  randombytes_buf(bytes, sizeof bytes);
  char hex[kSessionDigits + 1];
  return sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes);
}

Result<void> require_writable(sqlite3* db) {
  if (!is_read_only(db)) return {};
  return tl::unexpected(sqlite_diagnostic(db, SQLITE_READONLY));
}

/// Sessions that say "running" but whose tuner is gone.
Result<void> abort_dead_sessions(sqlite3* db, SessionLocks& locks) {
  std::vector<std::string> running;
  Statement select(db, "SELECT id FROM session WHERE state = 'running'");
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) break;
    running.push_back(select.hex(0));
  }
  for (const std::string& session : running) {
    if (!locks.acquire(session)) continue;  // held: at work. Holding it keeps others from resuming it just now.
    const auto updated = Statement(db, "UPDATE main.session SET state = 'aborted' WHERE id = ?1 AND state = 'running'")
                             .bind(Id{session})
                             .run();
    locks.release(session);
    TILE_TUNE_CHECK(updated);
  }
  return {};
}

/// Of what SQLite says of a damaged file, without the heading that it may have.
std::string last_line(const std::string& text) {
  const size_t end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

Result<void> check_trial(const TrialRow& trial) {
  if (base::sha256_hex(trial.schedule_json) != trial.schedule_id) {
    return failure("bad-record",
                   fmt::format("trial {}: the schedule's id is not the SHA-256 of its text", trial.sequence));
  }
  if (trial.chosen && !may_be_chosen(trial)) {
    return failure(
        "bad-record",
        fmt::format("trial {} cannot be the best: it is \"{}\" of origin \"{}\", at {:.3f}, {:.3f} to {:.3f}, times "
                    "the default schedule's speed",
                    trial.sequence, trial.outcome, trial.origin, trial.ratio, trial.ratio_lo, trial.ratio_hi));
  }
  return {};
}

}  // namespace

int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

Result<Database> Database::open(const std::filesystem::path& path, Mode mode) {
  TILE_TUNE_TRY(connection, open_connection(path, mode));
  TILE_TUNE_TRY(locks, SessionLocks::open(resolved(path), mode == Mode::ReadWrite));
  auto state = std::make_unique<State>(State{std::move(connection), std::move(locks), {}, {}});
  if (mode == Mode::ReadWrite) TILE_TUNE_CHECK(abort_dead_sessions(state->db.get(), state->locks));
  return Database(std::move(state));
}

Result<std::string> Database::begin_session(const ProgramRow& program, const TargetRow& target, const ToolRow& tool,
                                            SessionRow session) {
  sqlite3* db = state_->db.get();
  TILE_TUNE_CHECK(require_writable(db));
  if (session.id.empty()) session.id = random_session_id();
  if (session.created_ms == 0) session.created_ms = now_ms();
  session.state = "running";
  if (!is_session_id(session.id)) {
    return failure("bad-record", fmt::format("\"{}\" is not a session id of {} digits", session.id, kSessionDigits));
  }
  // Locked before it can be seen, so that it never looks abandoned.
  if (state_->active.contains(session.id) || !state_->locks.acquire(session.id)) {
    return failure("session-in-use", fmt::format("session {} is in use", session.id));
  }
  const SessionKey key{program_id(program), target_id(target), tool_id(tool)};
  const auto stored = [&]() -> Result<void> {
    TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Write));
    TILE_TUNE_CHECK(insert_program(db, key.program, program));
    TILE_TUNE_CHECK(insert_target(db, key.target, target));
    TILE_TUNE_CHECK(insert_tool(db, key.tool, tool));
    TILE_TUNE_TRY(is_new, insert_session(db, key, session));
    if (!is_new) return failure("bad-record", fmt::format("there is a session {} already", session.id));
    return transaction.commit();
  }();
  if (!stored) {
    state_->locks.release(session.id);
    return tl::unexpected(stored.error());
  }
  state_->active[session.id] = {key, workload_id(program)};
  return session.id;
}

Result<void> Database::resume_session(const std::string& session) {
  sqlite3* db = state_->db.get();
  TILE_TUNE_CHECK(require_writable(db));
  if (state_->active.contains(session) || !state_->locks.acquire(session)) {
    return failure("session-in-use", fmt::format("session {} is at work in another process", session),
                   "wait for it, or start one without --resume");
  }
  const auto resumed = [&]() -> Result<State::Active> {
    TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Write));
    Statement select(db, fmt::format("SELECT {}, p.workload FROM session s JOIN program p ON p.id = s.program "
                                     "WHERE s.id = ?1 AND s.state <> 'done'",
                                     kSessionColumns));
    TILE_TUNE_TRY(found, select.bind(Id{session}).step());
    if (!found) return failure("no-such-session", fmt::format("there is no unfinished session {}", session));
    Cursor cursor(select);
    const auto stored = read_session(cursor, state_->damaged);
    if (!stored) return failure("bad-record", fmt::format("the record of session {} is damaged", session));
    const State::Active active{stored->key, cursor.hex()};
    TILE_TUNE_CHECK(Statement(db, "UPDATE main.session SET state = 'running' WHERE id = ?1").bind(Id{session}).run());
    TILE_TUNE_CHECK(transaction.commit());
    return active;
  }();
  if (!resumed) {
    state_->locks.release(session);
    return tl::unexpected(resumed.error());
  }
  state_->active[session] = *resumed;
  return {};
}

Result<std::string> Database::append_trial(const std::string& session, const TrialRow& given) {
  const auto active = state_->active.find(session);
  if (active == state_->active.end()) {
    return failure("no-such-session", fmt::format("session {} is not open here", session));
  }
  TILE_TUNE_CHECK(check_trial(given));
  TrialRow trial = given;
  if (trial.created_ms == 0) trial.created_ms = now_ms();
  const std::string id = trial_id(active->second.key, session, trial);
  sqlite3* db = state_->db.get();
  TILE_TUNE_TRY(transaction, Transaction::begin(db, Transaction::Kind::Write));
  Statement same_number(db, "SELECT 1 FROM trial WHERE session = ?1 AND sequence = ?2 AND id <> ?3");
  TILE_TUNE_TRY(taken, same_number.bind(Id{session}, trial.sequence, Id{id}).step());
  if (taken) return failure("bad-record", fmt::format("there is another trial {} in the session", trial.sequence));
  TILE_TUNE_CHECK(insert_schedule(db, {trial.schedule_id, trial.schedule_json}));
  TILE_TUNE_TRY(is_new, insert_trial(db, id, session, trial));
  if (is_new && trial.chosen) {
    TILE_TUNE_TRY(time, next_acceptance(db, active->second.workload, trial.created_ms));
    TILE_TUNE_CHECK(insert_winner(db, {id, active->second.workload, time}));
  }
  TILE_TUNE_CHECK(transaction.commit());
  return id;
}

Result<void> Database::finish_session(const std::string& session, const std::string& state) {
  if (!state_->active.contains(session)) {
    return failure("no-such-session", fmt::format("session {} is not open here", session));
  }
  if (state != "done" && state != "aborted") {
    return failure("bad-record", fmt::format("a session ends \"done\" or \"aborted\", not \"{}\"", state));
  }
  TILE_TUNE_CHECK(
      Statement(state_->db.get(), "UPDATE main.session SET state = ?2 WHERE id = ?1").bind(Id{session}, state).run());
  state_->locks.release(session);
  state_->active.erase(session);
  return {};
}

Result<void> Database::check_pages(Depth depth) {
  sqlite3* db = state_->db.get();
  Statement check(db, depth == Depth::Pages ? "PRAGMA quick_check(1)" : "PRAGMA integrity_check(1)");
  const auto checked = check.step();
  // Keys that are too long are in no index that could be compared with their table.
  if (!checked && checked.error().code == kTooLong && depth == Depth::Indexes) return check_pages(Depth::Pages);
  TILE_TUNE_TRY(answered, checked);
  if (answered && check.text(0) == "ok") return {};
  Diagnostic damaged = sqlite_diagnostic(db, SQLITE_CORRUPT);
  if (answered) damaged.message += ": " + last_line(check.text(0));
  return tl::unexpected(std::move(damaged));
}

const std::vector<std::string>& Database::damaged_records() const { return state_->damaged; }

}  // namespace tile_tune::db
