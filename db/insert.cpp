#include "db/insert.h"

#include "db/statement.h"

namespace tile_tune::db {
namespace {

Result<bool> insert(sqlite3* db, Statement& statement) {
  TILE_TUNE_CHECK(statement.run());
  return sqlite3_changes(db) == 1;
}

}  // namespace

Result<bool> insert_program(sqlite3* db, const std::string& id, const ProgramRow& program) {
  Statement statement(db,
                      "INSERT INTO program(id, workload, content_hash, family_hash, name, frontend, source, "
                      "canonical, sizes, dtypes, layout, flops, bytes) "
                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT(id) DO NOTHING");
  statement.bind(Id{id}, Id{workload_id(program)}, program.content_hash, program.family_hash, program.name,
                 program.frontend, program.source, program.canonical_json, program.sizes_json, program.dtypes,
                 program.layout, program.flops, program.bytes);
  return insert(db, statement);
}

Result<bool> insert_target(sqlite3* db, const std::string& id, const TargetRow& target) {
  Statement statement(db,
                      "INSERT INTO target(id, halide, cpu_model, features, threads) VALUES (?1, ?2, ?3, ?4, ?5) "
                      "ON CONFLICT(id) DO NOTHING");
  statement.bind(Id{id}, target.halide, target.cpu_model, target.features_json, target.threads);
  return insert(db, statement);
}

Result<bool> insert_tool(sqlite3* db, const std::string& id, const ToolRow& tool) {
  Statement statement(db,
                      "INSERT INTO tool(id, tile_tune, halide, llvm, schedule_version, protocol_version) "
                      "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT(id) DO NOTHING");
  statement.bind(Id{id}, tool.tile_tune, tool.halide, tool.llvm, tool.schedule_version, tool.protocol_version);
  return insert(db, statement);
}

Result<bool> insert_session(sqlite3* db, const SessionKey& key, const SessionRow& session) {
  Statement statement(db,
                      "INSERT INTO session(id, program, target, tool, seed, strategy, options, budget, created, "
                      "digest, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");
  statement.bind(Id{session.id}, Id{key.program}, Id{key.target}, Id{key.tool}, static_cast<int64_t>(session.seed),
                 session.strategy, session.options_json, session.budget_json, session.created_ms,
                 Id{session_digest(key, session)}, session.state);
  return insert(db, statement);
}

Result<bool> insert_schedule(sqlite3* db, const ScheduleRow& schedule) {
  Statement statement(db, "INSERT INTO schedule(id, json) VALUES (?1, ?2) ON CONFLICT(id) DO NOTHING");
  statement.bind(Id{schedule.id}, schedule.json);
  return insert(db, statement);
}

Result<bool> insert_trial(sqlite3* db, const std::string& id, const std::string& session, const TrialRow& trial) {
  Statement statement(
      db,
      "INSERT INTO trial(id, session, sequence, generation, origin, parents, schedule, outcome, reason, "
      "code_hash, compile_ms, verify_error, samples, median_ns, ratio, ratio_lo, ratio_hi, peak_fraction, "
      "peak_fraction_lo, peak_fraction_hi, disturbed, elapsed_s, created) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, "
      "?21, ?22, ?23) ON CONFLICT(id) DO NOTHING");
  statement.bind(Id{id}, Id{session}, trial.sequence, trial.generation, trial.origin, trial.parents,
                 Id{trial.schedule_id}, trial.outcome, trial.reason, trial.code_hash, trial.compile_ms,
                 trial.verify_error, trial.samples_ns, trial.median_ns, trial.ratio, trial.ratio_lo, trial.ratio_hi,
                 trial.peak_fraction, trial.peak_fraction_lo, trial.peak_fraction_hi, static_cast<int>(trial.disturbed),
                 trial.elapsed_s, trial.created_ms);
  return insert(db, statement);
}

Result<bool> insert_winner(sqlite3* db, const WinnerRow& winner) {
  Statement statement(db,
                      "INSERT INTO winner(trial, workload, accepted, digest) VALUES (?1, ?2, ?3, ?4) "
                      "ON CONFLICT(trial) DO NOTHING");
  statement.bind(Id{winner.trial}, Id{winner.workload}, winner.accepted_ms,
                 Id{winner_digest(winner.trial, winner.workload, winner.accepted_ms)});
  return insert(db, statement);
}

bool may_be_chosen(const TrialRow& trial) {
  const bool slower_than_default = trial.ratio_hi > 0 && trial.ratio_hi < 1;
  return trial.origin == "final" && trial.outcome == "ok" && !slower_than_default;
}

Result<int64_t> next_acceptance(sqlite3* db, const std::string& workload, int64_t now_ms) {
  Statement latest(db, "SELECT max(?2, 1 + coalesce(max(accepted), 0)) FROM winner WHERE workload = ?1");
  TILE_TUNE_CHECK(latest.bind(Id{workload}, now_ms).step());
  return latest.integer(0);
}

}  // namespace tile_tune::db
