// What a Database holds; shared by the files that implement it.
#pragma once

#include <map>
#include <string>

#include "db/connection.h"
#include "db/database.h"
#include "db/identity.h"
#include "db/rows.h"
#include "db/session_lock.h"

namespace tile_tune::db {

struct Database::State {
  /// A session this object has begun or resumed.
  struct Active {
    SessionKey key;
    std::string workload;
  };

  Connection db;
  SessionLocks locks;
  std::map<std::string, Active> active;
  Damaged damaged;

  bool at_work(const std::string& session) const { return active.contains(session) || locks.held_elsewhere(session); }
};

int64_t now_ms();

/// The trial ids of a workload's winners, the one to use first: parameters are workload, threads, what to
/// prefer (target id, CPU model, tool id), code_columns() and former text.
std::string_view winners_sql();

/// The first intact winner that is acceptable. `tool_id` may be empty: the latest of any tool.
Result<std::optional<BestRow>> find_best(sqlite3* db, const std::string& workload, const TargetRow& target,
                                         const std::string& tool_id, Damaged& damaged,
                                         const Acceptable& acceptable = {});

}  // namespace tile_tune::db
