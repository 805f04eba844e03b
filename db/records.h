// What the database stores and answers, as plain data. Programs and schedules are JSON text here: the database knows
// nothing of search or code generation, but what a target is.
//
// Hashes and ids are lower-case hexadecimal text: 64 digits (SHA-256), sessions 32. Times `*_ms` named `created`
// are milliseconds since 1970 UTC; 0 in a row to be stored means now. Numbers that are not known are 0 or NaN.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/target/target.h"

namespace tile_tune::db {

struct ProgramRow {
  std::string content_hash, family_hash;  // ir/canonical.h
  std::string name, frontend, source;     // "tc", the text as the user wrote it
  std::string canonical_json;             // ir/json.h of the canonical, bound program
  std::string sizes_json;                 // {"M": 512, ...}
  std::string dtypes, layout;             // "f32,f32->f32", "row" or per tensor "rrc", capitals for constants
  double flops = 0, bytes = 0;
};

struct TargetRow {
  codegen::Target machine;  // a target with its machine's figures
  /// Of a target that versions 1 and 2 of the schema stored in words that this one has no names for: its text, where
  /// `machine` knows only the CPU's model and threads; its figures as JSON, of which `machine` has none.
  std::optional<std::string> former_text = {}, former_facts = {};

  /// What kernels are compiled for: codegen::Target::text().
  std::string text() const;
};

struct ToolRow {
  std::string tile_tune, halide, llvm;
  int schedule_version = 1, protocol_version = 1;
};

/// SessionRow::strategy of a session that rechecked stored schedules instead of searching for new ones. Its finals
/// are words on schedules: they confirm or refute them for its tool and target. One without trials refutes a session of
/// kSizedStrategy, which its options name.
inline constexpr const char* kRecheckStrategy = "verify";

/// SessionRow::strategy of a session that timed kernels of a program at many sizes. It has no trials; what came of it
/// is in its options.
inline constexpr const char* kSizedStrategy = "family";

/// SessionRow::strategy of a session that measured nothing. It has no trials, so that nothing predicted is ever taken
/// for measured; the schedules that were predicted to be the best are in its options.
inline constexpr const char* kPredictedStrategy = "predicted";

struct SessionRow {
  std::string id;  // random, 32 hex digits; empty in a session to begin: made by the database
  uint64_t seed = 0;
  std::string strategy, options_json, budget_json;
  std::string state;  // "running", "done", "aborted"
  int64_t created_ms = 0;
};

struct TrialRow {
  int sequence = 0, generation = 0;
  std::string origin;
  std::vector<std::string> parents;        // schedule ids
  std::string schedule_id, schedule_json;  // the id is the SHA-256 of exactly this text
  std::string outcome, reason, code_hash;
  double compile_ms = 0, verify_error = 0;
  std::vector<double> samples_ns;
  double median_ns = 0, ratio = 0, ratio_lo = 0, ratio_hi = 0;
  double peak_fraction = 0, peak_fraction_lo = 0, peak_fraction_hi = 0;
  bool disturbed = false;
  bool chosen = false;   // the tuner accepted it as the best known; only a trial of origin "final" and outcome "ok"
  double elapsed_s = 0;  // search time spent in the session when it was finished, resumptions included
  int64_t created_ms = 0;
};

/// A trial as it lies in the database. An "ok" one without a ratio was built and verified but never timed against the
/// default, which had failed (older versions stored a ratio of 0 then).
struct StoredTrial {
  std::string id, session;
  TrialRow trial;
};

/// One computation on one target by one tool, of which there are trials: what trials_of() takes.
struct RecordedRow {
  ProgramRow program;  // as the latest session spelled it
  TargetRow target;
  ToolRow tool;
  int trials = 0;
};

/// The best schedule known for a program on a target, and where it comes from. It may be applied as it is only
/// when same_target and same_tool hold; otherwise it is a record to recheck first (decisions 16 and 17).
struct BestRow {
  std::string trial_id, session;
  std::string schedule_id, schedule_json;
  double median_ns = 0, ratio = 0, ratio_lo = 0, ratio_hi = 0;
  double peak_fraction = 0, peak_fraction_lo = 0, peak_fraction_hi = 0;
  ProgramRow program;  // the spelling it was tuned as
  TargetRow target;
  ToolRow tool;
  bool same_target = false;  // else: same instruction set and threads, another CPU model or caches
  bool same_tool = false;    // else: made by other versions
  bool rechecked = false;    // chosen by a session of kRecheckStrategy, not by a search
  int64_t created_ms = 0;
};

/// A session that ran to its end, and what it worked on.
struct DoneSession {
  SessionRow session;
  ProgramRow program;
  TargetRow target;
  ToolRow tool;
};

/// A session that a Ctrl-C or a crash ended before its budget did.
struct UnfinishedSession {
  SessionRow session;
  int trials = 0;         // stored
  int next_sequence = 0;  // one more than the largest stored
  double elapsed_s = 0;   // search time spent
};

/// A schedule that did not work, with all that is needed to try it again.
struct FaultRow {
  ProgramRow program;
  TargetRow target;
  ToolRow tool;
  uint64_t seed = 0;  // of the session
  StoredTrial trial;
};

/// One line of `db list`: a computation on a target.
struct ListRow {
  std::string id;      // 12 digits; what show() takes
  ProgramRow program;  // as the latest session spelled it
  TargetRow target;
  int sessions = 0, trials = 0;
  std::optional<BestRow> best;
  int64_t created_ms = 0;  // of the latest session
};

struct ShowRow {
  ListRow summary;
  std::vector<SessionRow> sessions;     // oldest first
  std::map<std::string, int> outcomes;  // outcome -> number of trials
  std::vector<StoredTrial> finals;      // trials of origin "final" of the latest session that has any
};

/// How much a database holds.
struct Counts {
  int64_t programs = 0, targets = 0, tools = 0, schedules = 0, sessions = 0, trials = 0;
  int64_t tuned = 0;                        // programs, sizes and layouts of which something was chosen
  std::map<std::string, int64_t> outcomes;  // outcome -> number of trials
};

}  // namespace tile_tune::db
