// Which databases are meant where nobody names one.
#pragma once

#include <filesystem>
#include <optional>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::engine {

/// $TILE_TUNE_DB, else tuning.db in the user's data folder. Code: no-home.
Result<std::filesystem::path> default_database();

/// What the tool at `executable` is shipped with: $TILE_TUNE_CURATED (nothing: none), else
/// ../share/tile-tune/curated.db from its folder, if that is there.
std::optional<std::filesystem::path> curated_database(const std::filesystem::path& executable);

}  // namespace tile_tune::engine
