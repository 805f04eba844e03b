// What compile() does, in parts.
#pragma once

#include <tile_tune/kernel.h>

namespace tile_tune::engine {

/// A handle that compiles when it is called, also of a program that has numbers for its sizes. Says what there is to
/// say of the program.
Expected<Kernel> make_handle(const edsl::Program& program, const CompileOptions& options);

}  // namespace tile_tune::engine
