#include "db/insert.h"

#include <fmt/format.h>

#include <cmath>

#include "base/sha256.h"
#include "db/rows.h"
#include "db/sql_statement.h"
#include "db/target_columns.h"

namespace tile_tune::db {
namespace {

/// Puts a row into its table; says whether it is new there. A row with its id that `is_intact` does not know gives way.
template <typename IsIntact, typename... Values>
Result<bool> put(sqlite3* db, const std::string& row, const IsIntact& is_intact, const Values&... values) {
  TILE_TUNE_CHECK(Statement(db, "INSERT INTO main." + row + " ON CONFLICT DO NOTHING").bind(values...).run());
  if (sqlite3_changes(db) == 1) return true;
  TILE_TUNE_TRY(intact, is_intact());
  if (intact) return false;
  TILE_TUNE_CHECK(Statement(db, "INSERT OR REPLACE INTO main." + row).bind(values...).run());
  return true;
}

/// Whether what is stored under an id can be read.
template <typename Read>
auto reads(sqlite3* db, std::string_view columns, std::string_view from, const std::string& id, const Read& read) {
  return [=]() -> Result<bool> {
    Statement select(db, fmt::format("SELECT {} FROM {} = ?1", columns, from));
    const auto found = select.bind(Id{id}).step();
    if (!found && found.error().code == kTooLong) return false;
    if (!found) return tl::unexpected(found.error());
    Damaged damaged;
    Cursor cursor(select);
    return *found && read(cursor, damaged);
  };
}

}  // namespace

Result<bool> insert_program(sqlite3* db, const std::string& id, const ProgramRow& program) {
  static const std::string row =
      "program(id, workload, content_hash, family_hash, name, frontend, source, canonical, sizes, dtypes, layout, "
      "flops, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
  return put(db, row, reads(db, kProgramColumns, "program p WHERE p.id", id, read_program), Id{id},
             Id{workload_id(program)}, program.content_hash, program.family_hash, program.name, program.frontend,
             program.source, program.canonical_json, program.sizes_json, program.dtypes, program.layout, program.flops,
             program.bytes);
}

Result<bool> insert_target(sqlite3* db, const std::string& id, const TargetRow& target) {
  static const std::string row =
      "target(id, architecture, os, features, scalable_bits, device, deterministic, tuned_for, cpu_model, threads, "
      "vector_bytes, vector_registers, l1_bytes, l2_bytes, l3_bytes, former_text, former_facts) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
  const CodeColumns code = code_columns(target);
  const codegen::Target& machine = target.machine;
  return put(db, row, reads(db, kTargetColumns, "target g WHERE g.id", id, read_target), Id{id}, code.architecture,
             code.os, code.features, code.scalable_bits, code.device, code.deterministic, code.tuned_for,
             machine.cpu_model, machine.threads, machine.vector_bytes, machine.vector_registers, machine.l1_bytes,
             machine.l2_bytes, machine.l3_bytes, target.former_text, target.former_facts);
}

Result<bool> insert_tool(sqlite3* db, const std::string& id, const ToolRow& tool) {
  static const std::string row =
      "tool(id, tile_tune, halide, llvm, schedule_version, protocol_version) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
  return put(db, row, reads(db, kToolColumns, "tool l WHERE l.id", id, read_tool), Id{id}, tool.tile_tune, tool.halide,
             tool.llvm, tool.schedule_version, tool.protocol_version);
}

Result<bool> insert_session(sqlite3* db, const SessionKey& key, const SessionRow& session) {
  static const std::string row =
      "session(id, program, target, tool, seed, strategy, options, budget, created, digest, state) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
  return put(db, row, reads(db, kSessionColumns, "session s WHERE s.id", session.id, read_session), Id{session.id},
             Id{key.program}, Id{key.target}, Id{key.tool}, static_cast<int64_t>(session.seed), session.strategy,
             session.options_json, session.budget_json, session.created_ms, Id{session_digest(key, session)},
             session.state);
}

Result<bool> insert_schedule(sqlite3* db, const ScheduleRow& schedule) {
  const auto read = [](Cursor& cursor, Damaged&) {
    const std::string id = cursor.hex();
    return base::sha256_hex(cursor.text()) == id;
  };
  return put(db, "schedule(id, json) VALUES (?1, ?2)", reads(db, "id, json", "schedule WHERE id", schedule.id, read),
             Id{schedule.id}, schedule.json);
}

Result<bool> insert_trial(sqlite3* db, const std::string& id, const std::string& session, const TrialRow& trial) {
  static const std::string row =
      "trial(id, session, sequence, generation, origin, parents, schedule, outcome, reason, code_hash, compile_ms, "
      "verify_error, samples, median_ns, ratio, ratio_lo, ratio_hi, peak_fraction, peak_fraction_lo, "
      "peak_fraction_hi, disturbed, elapsed_s, created) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
      "?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)";
  static const std::string stored =
      fmt::format("trial t LEFT JOIN session s ON s.id = t.session {} WHERE t.id", kTrialJoins);
  return put(db, row, reads(db, kTrialColumns, stored, id, read_trial), Id{id}, Id{session}, trial.sequence,
             trial.generation, trial.origin, trial.parents, Id{trial.schedule_id}, trial.outcome, trial.reason,
             trial.code_hash, trial.compile_ms, trial.verify_error, trial.samples_ns, trial.median_ns, trial.ratio,
             trial.ratio_lo, trial.ratio_hi, trial.peak_fraction, trial.peak_fraction_lo, trial.peak_fraction_hi,
             static_cast<int>(trial.disturbed), trial.elapsed_s, trial.created_ms);
}

Result<bool> insert_winner(sqlite3* db, const WinnerRow& winner) {
  const auto read = [](Cursor& cursor, Damaged&) {
    const std::string trial = cursor.hex(), workload = cursor.hex();
    const int64_t accepted = cursor.integer();
    return winner_digest(trial, workload, accepted) == cursor.hex();
  };
  return put(db, "winner(trial, workload, accepted, digest) VALUES (?1, ?2, ?3, ?4)",
             reads(db, "trial, workload, accepted, digest", "winner WHERE trial", winner.trial, read), Id{winner.trial},
             Id{winner.workload}, winner.accepted_ms,
             Id{winner_digest(winner.trial, winner.workload, winner.accepted_ms)});
}

bool is_timed(const TrialRow& trial) {
  return 0 < trial.ratio_lo && trial.ratio_lo <= trial.ratio && trial.ratio <= trial.ratio_hi &&
         std::isfinite(trial.ratio_hi);
}

bool may_be_chosen(const TrialRow& trial) {
  return trial.origin == "final" && trial.outcome == "ok" && is_timed(trial) && trial.ratio_hi >= 1;
}

Result<int64_t> next_acceptance(sqlite3* db, const std::string& workload, int64_t now_ms) {
  Statement latest(db, "SELECT max(?2, 1 + coalesce(max(accepted), 0)) FROM winner WHERE workload = ?1");
  TILE_TUNE_CHECK(latest.bind(Id{workload}, now_ms).step());
  return latest.integer(0);
}

}  // namespace tile_tune::db
