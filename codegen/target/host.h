// What this machine offers, and which targets it can run kernels for.
#pragma once

#include <string>
#include <vector>

#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// `text` is "host" or names a target, of this machine or another: packages for others are made here, too. The feature
/// avx512 alone is taken as avx512_skylake, cuda alone as of compute capability 7.0. Which device a GPU target names is
/// for search/workers/device_query.h to find out. Unknown text, and Halide's words for how code is made: class Program;
/// a target that this version makes no kernels for: class Target.
Result<Target> describe_target(const std::string& text, int threads);

/// Nothing if kernels for the target run on this machine, on a GPU if it is one that was found; else class Target.
Result<void> check_runs_here(const Target& target);

/// Both: a target to verify and time kernels on.
Result<Target> resolve_target(const std::string& text, int threads);

/// Cores this process may run on (its affinity mask).
std::vector<int> available_cores();

/// Halide's and LLVM's version as the library in use reports them: "21.0.0", "21.1".
std::string halide_version();
std::string llvm_version();

}  // namespace tile_tune::codegen
