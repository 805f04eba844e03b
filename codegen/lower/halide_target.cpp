#include "codegen/lower/halide_target.h"

namespace tile_tune::codegen {

// A target's text is in Halide's words.
Halide::Target halide_target(const Target& target) { return Halide::Target(target.text()); }

}  // namespace tile_tune::codegen
