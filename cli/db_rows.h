// Rows of the tuning database as `db list`, `db show` and `db diff` write them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "db/records.h"

namespace tile_tune::cli {

/// What people call a program: an einsum that nobody named is its subscripts.
std::string program_text(const db::ProgramRow& program);

/// "row, constant W".
std::string storage_text(const db::ProgramRow& program);

/// "1.50x [1.42, 1.61]"; "-" where there is none.
std::string speed_text(double ratio, double lo, double hi);

nlohmann::json target_json(const db::TargetRow& target);
nlohmann::json best_json(const db::BestRow& best);
nlohmann::json list_row_json(const db::ListRow& row);

}  // namespace tile_tune::cli
