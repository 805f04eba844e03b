#include "codegen/lower/halide_target.h"

namespace tile_tune::codegen {

// A target's text is in Halide's words, but for the matrix unit: Halide's processor has it in any case.
Halide::Target halide_target(const Target& target) {
  Target known = target;
  known.features.remove(Feature::Amx);
  return Halide::Target(known.text());
}

}  // namespace tile_tune::codegen
