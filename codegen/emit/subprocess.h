// Runs a tool of the C tool chain, without a shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::codegen {

/// Runs command[0] (looked up on PATH) in `directory` and returns its standard output. A tool that cannot start, fails
/// or is killed is a Diagnostic of class Failure with what it wrote to standard error as note.
Result<std::string> run_tool(const std::vector<std::string>& command, const std::filesystem::path& directory);

}  // namespace tile_tune::codegen
