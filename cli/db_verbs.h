// The verbs of `db` that do more than show: one file each.
#pragma once

#include <vector>

#include "cli/session.h"
#include "db/database.h"

namespace tile_tune::cli {

/// A database of the command line, for reading: it exists, and its pages hang together and its indexes, by which
/// records are found, agree with its tables.
struct OpenDatabase {
  std::filesystem::path path;
  db::Database database;
};
Result<OpenDatabase> open_checked(const std::filesystem::path& path);
/// All of them, the one that is written first.
Result<std::vector<OpenDatabase>> open_checked(const Session& session);

/// Which file a row is from is said where there are several.
std::string from_text(const OpenDatabase& one, const std::vector<OpenDatabase>& all);

/// Names the records that were met damaged.
void warn_of_damage(const db::Database& database, const Reporter& report);

/// Names the first records that were left out ("trial 3fa1...: why"): more say nothing new.
void warn_of_refusals(const std::vector<std::string>& refused, const Reporter& report);

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
