// From result rows to records, with their digests checked.
//
// Each reader has a list of columns it expects, in order, from the table aliases p(rogram), g (target), l (tool),
// s(ession), t(rial), c (schedule), w(inner). A reader always consumes all its columns; it returns nothing and
// names the record in `damaged` where content and digest disagree.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/identity.h"
#include "db/records.h"
#include "db/sql_statement.h"

namespace tile_tune::db {

inline constexpr std::string_view kProgramColumns =
    "p.id, p.workload, p.content_hash, p.family_hash, p.name, p.frontend, p.source, p.canonical, p.sizes, p.dtypes, "
    "p.layout, "
    "p.flops, p.bytes";
inline constexpr std::string_view kTargetColumns =
    "g.id, g.architecture, g.os, g.features, g.scalable_bits, g.device, g.deterministic, g.tuned_for, g.cpu_model, "
    "g.threads, g.vector_bytes, g.vector_registers, g.l1_bytes, g.l2_bytes, g.l3_bytes, g.former_text, g.former_facts";
inline constexpr std::string_view kToolColumns =
    "l.id, l.tile_tune, l.halide, l.llvm, l.schedule_version, l.protocol_version";
inline constexpr std::string_view kSessionColumns =
    "s.id, s.program, s.target, s.tool, s.seed, s.strategy, s.options, s.budget, s.created, s.digest, s.state";
inline constexpr std::string_view kTrialColumns =
    "t.id, s.program, s.target, s.tool, t.session, t.sequence, t.generation, t.origin, t.parents, t.schedule, c.json, "
    "t.outcome, t.reason, t.code_hash, t.compile_ms, t.verify_error, t.samples, t.median_ns, t.ratio, t.ratio_lo, "
    "t.ratio_hi, t.peak_fraction, t.peak_fraction_lo, t.peak_fraction_hi, t.disturbed, t.elapsed_s, t.created, "
    "w.trial IS NOT NULL";
/// What kTrialColumns needs beside t and s. LEFT: a reference that leads nowhere is a damaged record, not a missing
/// one.
inline constexpr std::string_view kTrialJoins =
    "LEFT JOIN schedule c ON c.id = t.schedule LEFT JOIN winner w ON w.trial = t.id";

/// Reads the columns of the current row from left to right.
class Cursor {
 public:
  explicit Cursor(const Statement& statement) : statement_(statement) {}
  int64_t integer() { return statement_.integer(column_++); }
  int small() { return static_cast<int>(integer()); }
  double real() { return statement_.real(column_++); }
  std::string text() { return statement_.text(column_++); }
  std::optional<std::string> text_if_any() { return statement_.text_if_any(column_++); }
  std::string hex() { return statement_.hex(column_++); }
  std::vector<double> reals() { return statement_.reals(column_++); }
  std::vector<std::string> hashes() { return statement_.hashes(column_++); }

 private:
  const Statement& statement_;
  int column_ = 0;
};

using Damaged = std::vector<std::string>;
/// Names a damaged record, once.
void note_damaged(Damaged& damaged, const char* table, const std::string& id);

struct StoredSession {
  SessionKey key;
  SessionRow row;
};

std::optional<ProgramRow> read_program(Cursor& cursor, Damaged& damaged);
std::optional<TargetRow> read_target(Cursor& cursor, Damaged& damaged);
std::optional<ToolRow> read_tool(Cursor& cursor, Damaged& damaged);
std::optional<StoredSession> read_session(Cursor& cursor, Damaged& damaged);
std::optional<StoredTrial> read_trial(Cursor& cursor, Damaged& damaged);

/// The records in all rows of a statement whose parameters are bound, without the damaged ones.
template <typename Row>
Result<std::vector<Row>> read_all(Statement& select, std::optional<Row> (*read)(Cursor&, Damaged&), Damaged& damaged) {
  std::vector<Row> rows;
  while (true) {
    TILE_TUNE_TRY(more, select.step());
    if (!more) return rows;
    Cursor cursor(select);
    if (auto row = read(cursor, damaged)) rows.push_back(*std::move(row));
  }
}
/// The columns of a trial, whatever its digest says, and the key of its session.
StoredTrial parse_trial(Cursor& cursor, SessionKey& key);

}  // namespace tile_tune::db
