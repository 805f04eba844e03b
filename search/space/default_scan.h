// The schedule that a running total gets without any search.
#pragma once

#include <optional>

#include "search/space/repair.h"

namespace tile_tune::search {

/// Totals for statements that are some (codegen/schedule/scan.h) and long enough; nullopt for others.
std::optional<codegen::NestSchedule> default_scan(const StageContext& context);

}  // namespace tile_tune::search
