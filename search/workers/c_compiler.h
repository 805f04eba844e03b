// From a C source to a library that dlopen takes.
#pragma once

#include <filesystem>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::search {

/// Compiles a C source into a library. Codes: compiler-missing, compiler-failed.
Result<void> compile_shared(const std::filesystem::path& source, const std::filesystem::path& library);

}  // namespace tile_tune::search
