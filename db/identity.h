// Names of records by their content: SHA-256 over the fields of a row, as 64 hex digits.
//
// Equal rows get equal names on every machine, which makes merging trivial, and a row whose name or digest does not
// match its content has been damaged. The framing (identity.cpp) is part of the file format: changing it takes a
// migration.
#pragma once

#include <string>

#include "db/records.h"

namespace tile_tune::db {

/// What best schedules are looked up by: the computation and its storage order, whatever its spelling.
std::string workload_id(const ProgramRow& program);
std::string program_id(const ProgramRow& program);
std::string target_id(const TargetRow& target);
std::string tool_id(const ToolRow& tool);

/// The ids of the rows a session belongs to.
struct SessionKey {
  std::string program, target, tool;
};
/// Of everything but the state, which changes.
std::string session_digest(const SessionKey& key, const SessionRow& session);
/// Of the key, the session and all of the trial but `chosen`, which is a record of its own, and the schedule's text,
/// which its id covers.
std::string trial_id(const SessionKey& key, const std::string& session, const TrialRow& trial);
std::string winner_digest(const std::string& trial_id, const std::string& workload, int64_t accepted_ms);

/// Whether a text has the form of a SHA-256: 64 lower-case hexadecimal digits; of a session id: 32.
bool is_hash(const std::string& text);
bool is_session_id(const std::string& text);

}  // namespace tile_tune::db
