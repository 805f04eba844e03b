// Where a command's words go: results to standard output, diagnostics and notices to standard error.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/session/reporter.h"

namespace tile_tune::cli {

enum class Volume { Quiet, Normal, Verbose };

/// Writes to standard error: as text, or with --json as one JSON object a line. Quiet drops warnings and notices, never
/// errors. `werror`: warnings about programs are errors.
engine::Reporter reporter(Volume volume, bool json, bool color, bool werror = false);

/// Writes a result to standard output. A full disk or a closed pipe is an error like any other.
Result<void> print(const std::string& text);
Result<void> print_json(const nlohmann::json& json);

}  // namespace tile_tune::cli
