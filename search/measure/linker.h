// From an object file, an archive or a C source to a library that dlopen takes.
#pragma once

#include <filesystem>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::search {

/// Runs `ld -shared` (5 ms where the compiler driver takes 24: research/halide.md (f)) on all of `input`, bound to
/// libc and libm, which the runtime and kernels call. Codes: linker-missing; linker-failed, with the last line ld said,
/// in English.
Result<void> link_shared(const std::filesystem::path& input, const std::filesystem::path& library);

/// Compiles a C source into such a library. Codes: compiler-missing, compiler-failed.
Result<void> compile_shared(const std::filesystem::path& source, const std::filesystem::path& library);

}  // namespace tile_tune::search
