// What `tune` chose for programs at many sizes (engine/sized/sized_workload.h), as `db list` shows it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "db/database.h"

namespace tile_tune::cli {

/// One for each program, range of sizes, target and tool: the latest.
Result<std::vector<db::DoneSession>> stored_entries(db::Database& database);

nlohmann::json entry_row_json(const db::DoneSession& row);
/// One line of the table.
std::vector<std::string> entry_cells(const db::DoneSession& row);
/// A table of them, `width` wide (0: as it comes out); empty without any.
std::string entries_text(const std::vector<db::DoneSession>& rows, size_t width);

}  // namespace tile_tune::cli
