// A statement as plain loops in C++ with OpenMP: what a programmer would write without a library.
#pragma once

#include <optional>
#include <string>

#include "frontend/ir/program.h"

namespace tile_tune::search {

/// Name of an element type in generated code (adapters/prelude.h).
std::string c_type(DType type);

/// A function `void NAME(T* t3, const U* t0, ...)` that runs the statement; its parameters are nest_tensors(). Parallel
/// over the outermost output loops, simd over the loop along which most accesses are neighbours, other reductions
/// between the two with accumulators in L1. nullopt where this generator has no form for the statement.
std::optional<std::string> loop_nest(const ir::Program& program, const ir::Statement& statement,
                                     const std::string& name);

/// Tensors the function is given, the target first.
std::vector<int> nest_tensors(const ir::Statement& statement);

}  // namespace tile_tune::search
