// Whether the figures of a record from elsewhere can have been measured: a digest says only that nobody changed them
// since they were written.
#pragma once

#include <string>

#include "db/exchange.h"

namespace tile_tune::db {

/// What is wrong, with the field's name as in db/json_lines.h; empty if nothing is. Dates and what records refer to are
/// not looked at.
std::string nonsense_in(const ProgramRow& row);
std::string nonsense_in(const TargetRow& row);
std::string nonsense_in(const ToolRow& row);
std::string nonsense_in(const TrialRow& row);

/// The same of what a trial comes to: its median, ratio and share of the roof; not its samples and how it was made.
std::string nonsense_in_result(const TrialRow& row);

}  // namespace tile_tune::db
