// Rows into tables. What is there already stays as it is, unless it is damaged: then it is replaced. The caller holds
// the transaction and has checked the digests.
#pragma once

#include <sqlite3.h>

#include "db/exchange.h"

namespace tile_tune::db {

/// Each says whether the row is new, or has replaced a damaged one.
Result<bool> insert_program(sqlite3* db, const std::string& id, const ProgramRow& program);
Result<bool> insert_target(sqlite3* db, const std::string& id, const TargetRow& target);
Result<bool> insert_tool(sqlite3* db, const std::string& id, const ToolRow& tool);
Result<bool> insert_session(sqlite3* db, const SessionKey& key, const SessionRow& session);
Result<bool> insert_schedule(sqlite3* db, const ScheduleRow& schedule);
/// The trial's schedule and session are there.
Result<bool> insert_trial(sqlite3* db, const std::string& id, const std::string& session, const TrialRow& trial);
Result<bool> insert_winner(sqlite3* db, const WinnerRow& winner);

/// Whether a trial says how fast it is: a ratio within a finite interval of positive ones.
bool is_timed(const TrialRow& trial);

/// Whether a trial may be the best of its program: a finalist that works, and is known not to be slower than the
/// default schedule: its interval does not lie below that one's speed (decision 17).
bool may_be_chosen(const TrialRow& trial);

/// When a winner of now counts as accepted. Clocks go backwards at times; the order of winners must not.
Result<int64_t> next_acceptance(sqlite3* db, const std::string& workload, int64_t now_ms);

}  // namespace tile_tune::db
