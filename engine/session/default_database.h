// Which database is meant where nobody names one.
#pragma once

#include <filesystem>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::engine {

/// $TILE_TUNE_DB, else tuning.db in the user's data folder. Code: no-home.
Result<std::filesystem::path> default_database();

}  // namespace tile_tune::engine
