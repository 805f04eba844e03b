// Records on their way between databases: what a database hands out, one by one, and what one takes in.
//
// Every record says what it is called, which follows from its content: what does not agree is refused wherever it comes
// from. A database takes a source in by many short transactions, each complete in itself: who stops in the middle has
// some of the records, and takes in all of them by beginning anew.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "db/identity.h"
#include "db/records.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::db {

struct ScheduleRow {
  std::string id, json;
};

struct SessionRecord {
  SessionKey key;
  SessionRow row;
};

struct TrialRecord {
  std::string session;
  TrialRow row;  // without schedule_json and chosen, which are records of their own
};

struct WinnerRow {
  std::string trial, workload;
  int64_t accepted_ms = 0;
};

/// In the order in which they need each other.
using Content = std::variant<ProgramRow, TargetRow, ToolRow, SessionRecord, ScheduleRow, TrialRecord, WinnerRow>;

struct Record {
  std::string digest;  // program_id(), target_id(), tool_id(), session_digest(), sha256, trial_id(), winner_digest()
  Content content;
  std::string place = {};  // "shared.jsonl:12", where somebody can look; empty of a database's
};

/// "program", "target", ...: of the alternatives of Content.
const char* kind_name(size_t index);

using RecordVisitor = std::function<Result<void>(const Record&)>;
/// Hands every record to the visitor and stops at the first error.
using RecordSource = std::function<Result<void>(const RecordVisitor&)>;

/// A record that was not taken in.
struct Refusal {
  std::string record;  // "trial 3fa1...", and where somebody can look: "trial 3fa1... (shared.jsonl:12)"
  std::string why;
  std::string text() const { return record + ": " + why; }
};

struct Absorbed {
  int added = 0, known = 0;
  int conflicts = 0;  // trials added where there was another with their number in their session
  std::vector<Refusal> refused;
};

}  // namespace tile_tune::db
