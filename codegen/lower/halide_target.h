// A target as Halide takes it: the one place that makes one.
#pragma once

#include "Halide.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// Halide::Error where Halide does not know such a target, of which parse_target() makes none.
Halide::Target halide_target(const Target& target);

}  // namespace tile_tune::codegen
