// The verbs of `db` that do more than show: one file each.
#pragma once

#include <vector>

#include "cli/options.h"
#include "cli/session.h"
#include "engine/records/open_database.h"

namespace tile_tune::cli {

/// Which file a row is from is said where there are several.
std::string from_text(const engine::OpenDatabase& one, const std::vector<engine::OpenDatabase>& all);

/// Names the records that were met damaged.
void warn_of_damage(const db::Database& database, const engine::Reporter& report);

/// Names the first records that were left out ("trial 3fa1...: why"): more say nothing new.
void warn_of_refusals(const std::vector<std::string>& refused, const engine::Reporter& report);

void add_db_diff(Verb& db, Command& command);
void add_db_export(Verb& db, Command& command);
void add_db_import(Verb& db, Command& command);
void add_db_merge(Verb& db, Command& command);
void add_db_verify(Verb& db, Command& command);
void add_db_prune(Verb& db, Command& command);
void add_db_recover(Verb& db, Command& command);
void add_db_stats(Verb& db, Command& command);
void add_db_quarantine(Verb& db, Command& command);

}  // namespace tile_tune::cli
