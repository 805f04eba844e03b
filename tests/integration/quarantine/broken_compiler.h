// Halide's compiler, but for every schedule other than the default one it makes a kernel that crashes, or one that
// computes nothing.
#pragma once

#include <string>

#include "search/workers/compiler.h"

namespace tile_tune::test {

/// `fault`: "crash", "wrong", "abort" (of the compiler itself) or "" for none.
search::Compiler broken_compiler(const std::string& fault);

}  // namespace tile_tune::test
