// Halide's runtime compiled once for each of its versions and targets: that takes a second or two, which every command
// that measures or runs a kernel would otherwise spend.
#pragma once

#include <filesystem>

#include "codegen/target/target.h"
#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::codegen {

/// $XDG_CACHE_HOME/tile-tune, else ~/.cache/tile-tune; empty where there is neither.
std::filesystem::path user_cache();

/// As compile_runtime(), from the folder `cache` where an earlier call left it there. What is not as it was written, or
/// belongs to somebody else, is compiled again; a folder that cannot be written is no error.
Result<void> cached_runtime(const Target& target, const std::filesystem::path& object,
                            const std::filesystem::path& cache = user_cache());

}  // namespace tile_tune::codegen
