// What `tune` chose for programs at many sizes (engine/sized/sized_workload.h), as `db list` shows it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/sized/listed_entries.h"

namespace tile_tune::cli {

nlohmann::json entry_row_json(const engine::ListedEntry& entry);
/// One line of the table.
std::vector<std::string> entry_cells(const engine::ListedEntry& entry);
/// A table of them, `width` wide (0: as it comes out); empty without any.
std::string entries_text(const std::vector<engine::ListedEntry>& rows, size_t width);

}  // namespace tile_tune::cli
