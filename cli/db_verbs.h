// The verbs of `db` that do more than show: one file each.
#pragma once

#include <vector>

#include "cli/session.h"
#include "engine/records/open_database.h"

namespace tile_tune::cli {

/// Which file a row is from is said where there are several.
std::string from_text(const engine::OpenDatabase& one, const std::vector<engine::OpenDatabase>& all);

/// Names the records that were met damaged.
void warn_of_damage(const db::Database& database, const engine::Reporter& report);

/// Names the first records that were left out ("trial 3fa1...: why"): more say nothing new.
void warn_of_refusals(const std::vector<std::string>& refused, const engine::Reporter& report);

void add_db_diff(CLI::App& db, Command& command);
void add_db_export(CLI::App& db, Command& command);
void add_db_import(CLI::App& db, Command& command);
void add_db_merge(CLI::App& db, Command& command);
void add_db_verify(CLI::App& db, Command& command);
void add_db_prune(CLI::App& db, Command& command);
void add_db_recover(CLI::App& db, Command& command);
void add_db_stats(CLI::App& db, Command& command);
void add_db_quarantine(CLI::App& db, Command& command);

}  // namespace tile_tune::cli
