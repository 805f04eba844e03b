// What a CPU must offer to run a kernel, from the Halide target string it was compiled for.
//
// Halide passes LLVM a CPU model that goes with the highest feature of the target ("haswell" for avx2), and LLVM
// then uses everything that model has: an avx2 kernel may contain bmi2 or movbe instructions. The checked entry
// tests all of them, so that an older CPU gets an error code and no SIGILL (rulings 34).
#pragma once

#include <string>
#include <vector>

#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// Names as __builtin_cpu_supports spells them, sorted; empty where the architecture's baseline suffices.
/// A target that packages cannot serve (another OS or architecture than this compiler's, GPU features): class Target.
Result<std::vector<std::string>> required_cpu_features(const Target& target);

/// The target of the shared runtime: architecture and OS alone, so that packages for different features
/// of one architecture carry the same runtime.
Target runtime_target(const Target& target);

}  // namespace tile_tune::codegen
