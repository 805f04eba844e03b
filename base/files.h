// Whole files.
#pragma once

#include <filesystem>
#include <string>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::base {

/// Writes a text file; a full disk is noticed. Class Failure.
Result<void> write_text(const std::filesystem::path& path, const std::string& text);

/// The bytes of a file. Class Failure.
Result<std::string> read_bytes(const std::filesystem::path& path);

}  // namespace tile_tune::base
