// The verbs of `db` that do more than show: one file each.
#pragma once

#include "cli/session.h"

namespace tile_tune::cli {

void add_db_export(CLI::App& db, Command& command);
void add_db_import(CLI::App& db, Command& command);
void add_db_merge(CLI::App& db, Command& command);
void add_db_verify(CLI::App& db, Command& command);
void add_db_prune(CLI::App& db, Command& command);
void add_db_quarantine(CLI::App& db, Command& command);

}  // namespace tile_tune::cli
