// Where in a configuration file an option stands: CLI11 forgets the lines.
#pragma once

#include <optional>
#include <string>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::cli {

/// The line of the file that sets `option` ("threads" or "tune.trials"); nullopt if none does.
std::optional<Place> find_in_config(const std::string& path, const std::string& option);

}  // namespace tile_tune::cli
