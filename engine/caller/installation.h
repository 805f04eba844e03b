// Where the tool is that the SDK was installed with.
#pragma once

#include <filesystem>
#include <string>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::engine {

/// The one given, or if that is empty PREFIX/bin/tile-tune beside the PREFIX/lib that this code was loaded from: an
/// installed SDK may be moved. Code: no-executable.
Result<std::string> tool(const std::string& given);

}  // namespace tile_tune::engine
