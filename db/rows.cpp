#include "db/rows.h"

#include <algorithm>

#include "base/sha256.h"
#include "db/target_columns.h"

namespace tile_tune::db {
void note_damaged(Damaged& damaged, const char* table, const std::string& id) {
  std::string name = std::string(table) + " " + id;
  if (std::find(damaged.begin(), damaged.end(), name) == damaged.end()) damaged.push_back(std::move(name));
}

namespace {

template <typename Row>
std::optional<Row> checked(bool intact, Row row, const char* table, const std::string& id, Damaged& damaged) {
  if (intact) return row;
  note_damaged(damaged, table, id);
  return std::nullopt;
}

}  // namespace

std::optional<ProgramRow> read_program(Cursor& cursor, Damaged& damaged) {
  const std::string id = cursor.hex();
  const std::string workload = cursor.hex();
  ProgramRow row;
  row.content_hash = cursor.text();
  row.family_hash = cursor.text();
  row.name = cursor.text();
  row.frontend = cursor.text();
  row.source = cursor.text();
  row.canonical_json = cursor.text();
  row.sizes_json = cursor.text();
  row.dtypes = cursor.text();
  row.layout = cursor.text();
  row.flops = cursor.real();
  row.bytes = cursor.real();
  const bool intact = program_id(row) == id && workload_id(row) == workload;
  return checked(intact, std::move(row), "program", id, damaged);
}

std::optional<TargetRow> read_target(Cursor& cursor, Damaged& damaged) {
  const std::string id = cursor.hex();
  CodeColumns code;
  code.architecture = cursor.text();
  code.os = cursor.text();
  code.features = cursor.text();
  code.scalable_bits = cursor.small();
  code.device = cursor.text();
  code.deterministic = cursor.small();
  code.tuned_for = cursor.text();
  codegen::Target figures;
  figures.cpu_model = cursor.text();
  figures.threads = cursor.small();
  figures.vector_bytes = cursor.small();
  figures.vector_registers = cursor.small();
  figures.l1_bytes = cursor.integer();
  figures.l2_bytes = cursor.integer();
  figures.l3_bytes = cursor.integer();
  const auto machine = target_from(code, figures);
  TargetRow row{.machine = machine.value_or(figures)};
  row.former_text = cursor.text_if_any();
  row.former_facts = cursor.text_if_any();
  const bool intact = (machine || row.former_text) && target_id(row) == id;
  return checked(intact, std::move(row), "target", id, damaged);
}

std::optional<ToolRow> read_tool(Cursor& cursor, Damaged& damaged) {
  const std::string id = cursor.hex();
  ToolRow row;
  row.tile_tune = cursor.text();
  row.halide = cursor.text();
  row.llvm = cursor.text();
  row.schedule_version = cursor.small();
  row.protocol_version = cursor.small();
  const bool intact = tool_id(row) == id;
  return checked(intact, std::move(row), "tool", id, damaged);
}

std::optional<StoredSession> read_session(Cursor& cursor, Damaged& damaged) {
  StoredSession stored;
  SessionRow& row = stored.row;
  row.id = cursor.hex();
  stored.key.program = cursor.hex();
  stored.key.target = cursor.hex();
  stored.key.tool = cursor.hex();
  row.seed = static_cast<uint64_t>(cursor.integer());
  row.strategy = cursor.text();
  row.options_json = cursor.text();
  row.budget_json = cursor.text();
  row.created_ms = cursor.integer();
  const std::string digest = cursor.hex();
  row.state = cursor.text();
  // The one column without a digest, since it changes. Aborted is what loses nothing: the session can be resumed.
  if (row.state != "running" && row.state != "done") row.state = "aborted";
  const bool intact = session_digest(stored.key, row) == digest;
  const std::string id = row.id;
  return checked(intact, std::move(stored), "session", id, damaged);
}

StoredTrial parse_trial(Cursor& cursor, SessionKey& key) {
  StoredTrial stored;
  TrialRow& row = stored.trial;
  stored.id = cursor.hex();
  key.program = cursor.hex();
  key.target = cursor.hex();
  key.tool = cursor.hex();
  stored.session = cursor.hex();
  row.sequence = cursor.small();
  row.generation = cursor.small();
  row.origin = cursor.text();
  row.parents = cursor.hashes();
  row.schedule_id = cursor.hex();
  row.schedule_json = cursor.text();
  row.outcome = cursor.text();
  row.reason = cursor.text();
  row.code_hash = cursor.text();
  row.compile_ms = cursor.real();
  row.verify_error = cursor.real();
  row.samples_ns = cursor.reals();
  row.median_ns = cursor.real();
  row.ratio = cursor.real();
  row.ratio_lo = cursor.real();
  row.ratio_hi = cursor.real();
  row.peak_fraction = cursor.real();
  row.peak_fraction_lo = cursor.real();
  row.peak_fraction_hi = cursor.real();
  row.disturbed = cursor.integer() != 0;
  row.elapsed_s = cursor.real();
  row.created_ms = cursor.integer();
  row.chosen = cursor.integer() != 0;
  return stored;
}

std::optional<StoredTrial> read_trial(Cursor& cursor, Damaged& damaged) {
  SessionKey key;
  StoredTrial stored = parse_trial(cursor, key);
  const TrialRow& row = stored.trial;
  const bool intact =
      trial_id(key, stored.session, row) == stored.id && base::sha256_hex(row.schedule_json) == row.schedule_id;
  const std::string id = stored.id;
  return checked(intact, std::move(stored), "trial", id, damaged);
}

}  // namespace tile_tune::db
