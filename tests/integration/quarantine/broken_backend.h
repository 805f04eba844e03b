// Halide's compiler, but for every schedule other than the default one it makes a kernel that crashes, or one that
// computes nothing.
#pragma once

#include <string>

#include "codegen/backend/backend.h"

namespace tile_tune::test {

/// `fault`: "crash", "wrong", "abort" (of the compiler itself) or "" for none.
codegen::Backend broken_backend(const std::string& fault);

}  // namespace tile_tune::test
