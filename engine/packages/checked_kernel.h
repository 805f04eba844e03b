// Kernels for packages that check indices.
#pragma once

#include "codegen/emit/package.h"

namespace tile_tune::engine {

/// Sets `kernel.checked`, if the program has indices to check; `target` is that of the package. The kernel is valid.
Result<void> add_index_checks(codegen::Kernel& kernel, const codegen::Target& target);

}  // namespace tile_tune::engine
