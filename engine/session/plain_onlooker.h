// For work without a display of its own.
#pragma once

#include "engine/session/reporter.h"
#include "search/workers/onlooker.h"

namespace tile_tune::engine {

/// Tells of the first wait, and of warnings, each once a command; nothing of what is done. `report` must outlive it.
search::Onlooker plain_onlooker(const Reporter& report);

}  // namespace tile_tune::engine
