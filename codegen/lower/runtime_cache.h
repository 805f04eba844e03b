// Halide's runtime compiled once for each of its versions and targets: that takes a second or two, which every command
// that measures or runs a kernel would otherwise spend.
#pragma once

#include <filesystem>

#include "base/file_cache.h"
#include "codegen/target/target.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::codegen {

/// As compile_runtime(), from the folder `cache` where an earlier call left it there (base/file_cache.h).
Result<void> cached_runtime(const Target& target, const std::filesystem::path& object,
                            const std::filesystem::path& cache = base::user_cache());

}  // namespace tile_tune::codegen
