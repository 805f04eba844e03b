// Halide as the backend.
#pragma once

#include "codegen/backend/backend.h"

namespace tile_tune::codegen {

/// compile_object(), cached_runtime(), and a one-loop program to warm up with: a first compile costs 450-750 ms, later
/// ones 65-130 ms (two Zen 4 cores).
Backend halide_backend();

}  // namespace tile_tune::codegen
