// Questions a tuner or a build asks: the best schedule, earlier trials, the session to resume.
#include <fmt/format.h>

#include "db/insert.h"
#include "db/sense.h"
#include "db/state.h"
#include "db/target_columns.h"
#include "db/too_long.h"

namespace tile_tune::db {
namespace {

/// Everything about one winner; nothing where a record behind it is damaged.
Result<std::optional<BestRow>> load_winner(sqlite3* db, const std::string& trial, Damaged& damaged) {
  static const std::string sql = fmt::format(
      "SELECT {}, {}, {}, {}, s.strategy FROM trial t JOIN session s ON s.id = t.session "
      "JOIN program p ON p.id = s.program JOIN target g ON g.id = s.target JOIN tool l ON l.id = s.tool {} "
      "WHERE t.id = ?1",
      kTrialColumns, kProgramColumns, kTargetColumns, kToolColumns, kTrialJoins);
  Statement select(db, sql);
  TILE_TUNE_TRY(found, select.bind(Id{trial}).step());
  if (!found) return std::nullopt;
  Cursor cursor(select);
  auto stored = read_trial(cursor, damaged);
  auto program = read_program(cursor, damaged);
  auto target = read_target(cursor, damaged);
  auto tool = read_tool(cursor, damaged);
  if (!stored || !program || !target || !tool) return std::nullopt;
  TrialRow& row = stored->trial;
  // Files come from elsewhere, too.
  if (!may_be_chosen(row) || !nonsense_in_result(row).empty()) return std::nullopt;
  BestRow best;
  best.trial_id = stored->id;
  best.session = stored->session;
  best.schedule_id = row.schedule_id;
  best.schedule_json = row.schedule_json;
  best.median_ns = row.median_ns;
  best.ratio = row.ratio;
  best.ratio_lo = row.ratio_lo;
  best.ratio_hi = row.ratio_hi;
  best.peak_fraction = row.peak_fraction;
  best.peak_fraction_lo = row.peak_fraction_lo;
  best.peak_fraction_hi = row.peak_fraction_hi;
  best.program = *std::move(program);
  best.target = *std::move(target);
  best.tool = *std::move(tool);
  best.created_ms = row.created_ms;
  best.rechecked = cursor.text() == kRecheckStrategy;
  return best;
}

Result<std::optional<StoredTrial>> find_verdict(sqlite3* db, const ProgramRow& program, const TargetRow& target,
                                                const ToolRow& tool, const std::string& schedule, Damaged& damaged) {
  static const std::string sql = fmt::format(
      "SELECT {} FROM trial t CROSS JOIN session s ON s.id = t.session CROSS JOIN program p ON p.id = s.program {} "
      "WHERE t.schedule = ?1 AND p.workload = ?2 AND s.target = ?3 AND s.tool = ?4 "
      "AND (t.origin = 'final' OR t.outcome NOT IN ('ok', 'slow', 'duplicate')) ORDER BY t.created DESC, t.id DESC",
      kTrialColumns, kTrialJoins);
  Statement select(db, sql);
  select.bind(Id{schedule}, Id{workload_id(program)}, Id{target_id(target)}, Id{tool_id(tool)});
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return std::nullopt;
    Cursor cursor(select);
    auto trial = read_trial(cursor, damaged);
    if (trial && (trial->trial.outcome != "ok" || is_timed(trial->trial))) return trial;
  }
}

Result<bool> unrefuted(sqlite3* db, const BestRow& best, const TargetRow& target, const ToolRow& tool,
                       Damaged& damaged) {
  TILE_TUNE_TRY(verdict, find_verdict(db, best.program, target, tool, best.schedule_id, damaged));
  return !verdict || may_be_chosen(verdict->trial);
}

}  // namespace

std::string_view winners_sql() {
  // CROSS JOIN keeps this order of tables: without statistics the planner might start from every target.
  return "SELECT w.trial, w.accepted, w.digest FROM winner w CROSS JOIN trial t ON t.id = w.trial "
         "CROSS JOIN session s ON s.id = t.session "
         "CROSS JOIN target g ON g.id = s.target WHERE w.workload = ?1 AND g.threads = ?2 "
         "AND g.architecture = ?6 AND g.os = ?7 AND g.features = ?8 AND g.scalable_bits = ?9 AND g.device = ?10 "
         "AND g.deterministic = ?11 AND g.tuned_for = ?12 AND g.former_text IS ?13 "
         "ORDER BY g.id = ?3 DESC, g.cpu_model = ?4 DESC, s.tool = ?5 DESC, w.accepted DESC, w.trial DESC";
}

Result<std::optional<BestRow>> find_best(sqlite3* db, const std::string& workload, const TargetRow& target,
                                         const std::string& tool, Damaged& damaged, const Acceptable& acceptable) {
  const std::string target_key = target_id(target);
  Statement winners(db, winners_sql());
  const CodeColumns code = code_columns(target);
  winners.bind(Id{workload}, target.machine.threads, Id{target_key}, target.machine.cpu_model, Id{tool},
               code.architecture, code.os, code.features, code.scalable_bits, code.device, code.deterministic,
               code.tuned_for, target.former_text);
  while (true) {
    TILE_TUNE_TRY(more, winners.step());
    if (!more) return std::nullopt;
    const std::string trial = winners.hex(0);
    if (winner_digest(trial, workload, winners.integer(1)) != winners.hex(2)) {
      note_damaged(damaged, "winner", trial);
      continue;
    }
    TILE_TUNE_TRY(best, load_winner(db, trial, damaged));
    if (!best || workload_id(best->program) != workload) continue;
    best->same_target = target_id(best->target) == target_key;
    best->same_tool = tool_id(best->tool) == tool;
    if (!acceptable) return best;
    TILE_TUNE_TRY(taken, acceptable(*best));
    if (taken) return best;
  }
}

Result<std::optional<BestRow>> Database::best(const ProgramRow& program, const TargetRow& target, const ToolRow& tool,
                                              const Acceptable& acceptable) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::optional<BestRow>> {
    sqlite3* db = state_->db.get();
    TILE_TUNE_TRY(snapshot, Transaction::begin(db, Transaction::Kind::Read));
    const auto by_this_file = [&](const BestRow& best) { return unrefuted(db, best, target, tool, state_->damaged); };
    return find_best(db, workload_id(program), target, tool_id(tool), state_->damaged,
                     acceptable ? acceptable : by_this_file);
  });
}

Result<std::optional<StoredTrial>> Database::verdict(const ProgramRow& program, const TargetRow& target,
                                                     const ToolRow& tool, const std::string& schedule_id) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::optional<StoredTrial>> {
    return find_verdict(state_->db.get(), program, target, tool, schedule_id, state_->damaged);
  });
}

Result<std::vector<BestRow>> Database::relatives(const ProgramRow& program, const TargetRow& target,
                                                 const ToolRow& tool) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::vector<BestRow>> {
    sqlite3* db = state_->db.get();
    TILE_TUNE_TRY(snapshot, Transaction::begin(db, Transaction::Kind::Read));
    Statement select(db,
                     "SELECT DISTINCT p.workload FROM program p WHERE p.family_hash = ?1 AND p.layout = ?2 "
                     "AND p.workload <> ?3 ORDER BY p.workload");
    select.bind(program.family_hash, program.layout, Id{workload_id(program)});
    std::vector<BestRow> rows;
    while (true) {
      TILE_TUNE_TRY(more, select.step());
      if (!more) return rows;
      TILE_TUNE_TRY(best, find_best(db, select.hex(0), target, tool_id(tool), state_->damaged, [&](const BestRow& row) {
                      return unrefuted(db, row, target, tool, state_->damaged);
                    }));
      if (best) rows.push_back(*std::move(best));
    }
  });
}

Result<std::vector<ProgramRow>> Database::families() {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::vector<ProgramRow>> {
    // SQLite takes the plain columns of a group from the row that has the minimum.
    static const std::string sql = fmt::format(
        "SELECT {}, min(p.id) FROM program p WHERE p.workload IN (SELECT workload FROM winner) "
        "GROUP BY p.family_hash, p.layout ORDER BY p.family_hash, p.layout",
        kProgramColumns);
    Statement select(state_->db.get(), sql);
    return read_all(select, read_program, state_->damaged);
  });
}

Result<std::vector<StoredTrial>> Database::trials_of(const ProgramRow& program, const TargetRow& target,
                                                     const ToolRow& tool, const std::string& session) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::vector<StoredTrial>> {
    static const std::string sql = fmt::format(
        "SELECT {} FROM program p CROSS JOIN session s ON s.program = p.id CROSS JOIN trial t ON t.session = "
        "s.id {} WHERE p.workload = ?1 AND s.target = ?2 AND s.tool = ?3 AND (?4 = x'' OR s.id = ?4) "
        "ORDER BY s.created, s.id, t.sequence",
        kTrialColumns, kTrialJoins);
    Statement select(state_->db.get(), sql);
    select.bind(Id{workload_id(program)}, Id{target_id(target)}, Id{tool_id(tool)}, Id{session});
    return read_all(select, read_trial, state_->damaged);
  });
}

Result<std::vector<RecordedRow>> Database::recorded(const std::string& family_hash) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::vector<RecordedRow>> {
    // SQLite takes the plain columns of a group from the row that has the maximum: the latest session.
    static const std::string sql = fmt::format(
        "SELECT {}, {}, {}, max(s.created), sum((SELECT count(*) FROM trial t WHERE t.session = s.id)) "
        "FROM program p CROSS JOIN session s ON s.program = p.id JOIN target g ON g.id = s.target "
        "JOIN tool l ON l.id = s.tool "
        "WHERE (?1 = '' OR p.family_hash = ?1) AND EXISTS (SELECT 1 FROM trial t WHERE t.session = s.id) "
        "GROUP BY p.workload, s.target, s.tool ORDER BY max(s.created) DESC, p.workload, s.target, s.tool",
        kProgramColumns, kTargetColumns, kToolColumns);
    Statement select(state_->db.get(), sql);
    select.bind(family_hash);
    std::vector<RecordedRow> rows;
    while (true) {
      TILE_TUNE_TRY(more, select.step());
      if (!more) return rows;
      Cursor cursor(select);
      auto program = read_program(cursor, state_->damaged);
      auto target = read_target(cursor, state_->damaged);
      auto tool = read_tool(cursor, state_->damaged);
      if (!program || !target || !tool) continue;
      cursor.integer();  // when
      rows.push_back({*std::move(program), *std::move(target), *std::move(tool), cursor.small()});
    }
  });
}

Result<std::vector<FaultRow>> Database::faults(const std::string& name) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::vector<FaultRow>> {
    static const std::string sql = fmt::format(
        "SELECT {}, {}, {}, {}, s.seed FROM trial t JOIN session s ON s.id = t.session JOIN program p ON p.id = "
        "s.program "
        "JOIN target g ON g.id = s.target JOIN tool l ON l.id = s.tool {} "
        "WHERE t.outcome NOT IN ('ok', 'slow', 'duplicate') AND (?1 = '' OR p.name = ?1) "
        "ORDER BY t.created DESC, t.id",
        kTrialColumns, kProgramColumns, kTargetColumns, kToolColumns, kTrialJoins);
    Statement select(state_->db.get(), sql);
    select.bind(name);
    std::vector<FaultRow> rows;
    while (true) {
      TILE_TUNE_TRY(more, select.step());
      if (!more) return rows;
      Cursor cursor(select);
      auto trial = read_trial(cursor, state_->damaged);
      auto program = read_program(cursor, state_->damaged);
      auto target = read_target(cursor, state_->damaged);
      auto tool = read_tool(cursor, state_->damaged);
      const auto seed = static_cast<uint64_t>(cursor.integer());
      if (!trial || !program || !target || !tool) continue;
      rows.push_back({*std::move(program), *std::move(target), *std::move(tool), seed, *std::move(trial)});
    }
  });
}

Result<std::optional<UnfinishedSession>> Database::unfinished_session(const ProgramRow& program,
                                                                      const TargetRow& target, const ToolRow& tool) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::optional<UnfinishedSession>> {
    sqlite3* db = state_->db.get();
    TILE_TUNE_TRY(snapshot, Transaction::begin(db, Transaction::Kind::Read));
    static const std::string sql = fmt::format(
        "SELECT {} FROM program p CROSS JOIN session s ON s.program = p.id WHERE p.workload = ?1 AND "
        "s.target = ?2 AND s.tool = ?3 AND s.state <> 'done' AND s.strategy NOT IN (?4, ?5, ?6) "
        // One that was stopped before its first trial has nothing to go on with.
        "ORDER BY EXISTS (SELECT 1 FROM trial t WHERE t.session = s.id) DESC, s.created DESC, s.id DESC",
        kSessionColumns);
    Statement select(db, sql);
    select.bind(Id{workload_id(program)}, Id{target_id(target)}, Id{tool_id(tool)}, std::string(kRecheckStrategy),
                std::string(kSizedStrategy), std::string(kPredictedStrategy));
    while (true) {
      TILE_TUNE_TRY(more, select.step());
      if (!more) return std::nullopt;
      Cursor cursor(select);
      auto stored = read_session(cursor, state_->damaged);
      if (!stored || state_->at_work(stored->row.id)) continue;
      stored->row.state = "aborted";
      Statement totals(db,
                       "SELECT count(*), coalesce(max(sequence) + 1, 0), coalesce(max(elapsed_s), 0.0) FROM trial "
                       "WHERE session = ?1");
      TILE_TUNE_CHECK(totals.bind(Id{stored->row.id}).step());
      Cursor total(totals);
      UnfinishedSession unfinished{std::move(stored->row)};
      unfinished.trials = total.small();
      unfinished.next_sequence = total.small();
      unfinished.elapsed_s = total.real();
      return unfinished;
    }
  });
}

Result<std::vector<DoneSession>> Database::done_sessions(const std::string& strategy, const std::string& workload) {
  return without_too_long(state_->db.get(), state_->damaged, [&]() -> Result<std::vector<DoneSession>> {
    static const std::string sql = fmt::format(
        "SELECT {}, {}, {}, {} FROM session s JOIN program p ON p.id = s.program JOIN target g ON g.id = s.target "
        "JOIN tool l ON l.id = s.tool WHERE s.strategy = ?1 AND s.state = 'done' AND (?2 = x'' OR p.workload = ?2) "
        "ORDER BY s.created DESC, s.id DESC",
        kSessionColumns, kProgramColumns, kTargetColumns, kToolColumns);
    Statement select(state_->db.get(), sql);
    select.bind(strategy, Id{workload});
    std::vector<DoneSession> sessions;
    while (true) {
      TILE_TUNE_TRY(more, select.step());
      if (!more) return sessions;
      Cursor cursor(select);
      auto stored = read_session(cursor, state_->damaged);
      auto program = read_program(cursor, state_->damaged);
      auto target = read_target(cursor, state_->damaged);
      auto tool = read_tool(cursor, state_->damaged);
      if (!stored || !program || !target || !tool) continue;
      sessions.push_back({std::move(stored->row), *std::move(program), *std::move(target), *std::move(tool)});
    }
  });
}

}  // namespace tile_tune::db
