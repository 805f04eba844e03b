// What keeps a baseline within the instructions of a target on a machine that has wider vectors, so that kernels for
// AVX2 or SSE compete with what the libraries have for these.
#pragma once

#include <string>
#include <vector>

#include "codegen/target/target.h"

namespace tile_tune::search {

/// Flags of the compiler, among them macros that the adapters tell their libraries the same by. All that the machine
/// has where the target's vectors are as wide.
std::vector<std::string> instruction_flags(const codegen::Target& target, const codegen::Target& machine);

}  // namespace tile_tune::search
