// What a CPU must offer to run a kernel, from the target it was compiled for.
//
// Halide passes LLVM a CPU model that goes with the highest feature of the target ("haswell" for avx2), and LLVM
// then uses everything that model has: an avx2 kernel may contain bmi2 or movbe instructions. The checked entry
// tests all of them, so that an older CPU gets an error code and no SIGILL (decision 16).
#pragma once

#include <string>
#include <vector>

#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// Names as __builtin_cpu_supports (on AArch64: the kernel's HWCAP_ constants) spells them, sorted, and "amx" for the
/// matrix unit; empty where the architecture's baseline suffices. A target that packages cannot serve (other operating
/// systems, GPU features): class Target.
Result<std::vector<std::string>> required_cpu_features(const Target& target);

/// Architecture and required_cpu_features() in words: "x86-64 avx fma ...".
Result<std::string> instruction_set(const Target& target);

/// The features of a platform beyond its baseline that a CPU can be asked for.
std::vector<Feature> testable_features(const Platform& platform);

/// A C expression: this CPU has all of them. It needs cpu_preamble() of these, and maybe of others, before it.
std::string cpu_condition(const std::vector<std::string>& features);
std::string cpu_preamble(const std::vector<std::vector<std::string>>& alternatives);

/// The targets of one library in the order in which a CPU is asked whether it has them: those that need more first, the
/// architecture's baseline (added if it is not there) last; none twice. Targets of several platforms: class Program.
Result<std::vector<Target>> dispatch_order(std::vector<Target> targets);

/// The target of the shared runtime: its platform alone, so that packages for different features
/// of one architecture carry the same runtime.
Target runtime_target(const Target& target);

}  // namespace tile_tune::codegen
