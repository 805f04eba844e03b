// The package writer with its backend handed in: tests put their own in place of Halide's.
#pragma once

#include "codegen/emit/objects.h"

namespace tile_tune::codegen {

/// write_package() with `backend` in place of codegen/lower.
Result<std::vector<std::filesystem::path>> write_package_with(const Backend& backend,
                                                              const std::vector<Kernel>& kernels,
                                                              const PackageOptions& options);

}  // namespace tile_tune::codegen
