// What `tune` chose for programs at many sizes (engine/sized/family.h), as `db list` shows it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/database.h"

namespace tile_tune::cli {

/// One for each program, range of sizes, target and tool: the latest.
Result<std::vector<db::DoneSession>> stored_families(db::Database& database);

nlohmann::json family_row_json(const db::DoneSession& row);
/// One line of the table.
std::vector<std::string> family_cells(const db::DoneSession& row);
/// A table of them, `width` wide (0: as it comes out); empty without any.
std::string families_text(const std::vector<db::DoneSession>& rows, size_t width);

}  // namespace tile_tune::cli
