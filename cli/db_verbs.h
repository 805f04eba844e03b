// The verbs of `db` that do more than show: one file each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "cli/verb.h"
#include "cli/command.h"
#include "db/exchange.h"
#include "engine/records/open_database.h"

namespace tile_tune::cli {

/// Which file a row is from is said where there are several.
std::string from_text(const engine::OpenDatabase& one, const std::vector<engine::OpenDatabase>& all);

/// Names the records that were met damaged.
void warn_of_damage(const db::Database& database, const engine::Reporter& report);

/// Names records that were left out, and why: those with one reason in one sentence, of many the first.
void warn_of_refusals(const std::vector<db::Refusal>& refused, const engine::Reporter& report);
nlohmann::json to_json(const std::vector<db::Refusal>& refused);

void add_db_diff(Verb& db, Command& command);
void add_db_export(Verb& db, Command& command);
void add_db_import(Verb& db, Command& command);
void add_db_merge(Verb& db, Command& command);
void add_db_recheck(Verb& db, Command& command);
void add_db_prune(Verb& db, Command& command);
void add_db_recover(Verb& db, Command& command);
void add_db_stats(Verb& db, Command& command);
void add_db_quarantine(Verb& db, Command& command);

}  // namespace tile_tune::cli
