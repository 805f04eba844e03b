// For work without a display of its own.
#pragma once

#include "cli/report.h"
#include "search/measure/onlooker.h"

namespace tile_tune::cli {

/// Tells of the first wait, and of warnings, each once a command; nothing of what is done. `report` must outlive it.
search::Onlooker plain_onlooker(const Reporter& report);

}  // namespace tile_tune::cli
