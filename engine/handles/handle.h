// What compile() does, in parts.
#pragma once

#include <tile_tune/kernel.h>

namespace tile_tune::engine {

/// Whether a handle can be made with them: a schedule that is one, one budget, a number of threads.
Expected<void> check_options(const CompileOptions& options);

/// A handle that compiles when it is called, also of a program that has numbers for its sizes. Says what there is to
/// say of the program.
Expected<Kernel> make_handle(const edsl::Program& program, const CompileOptions& options);

/// Makes what a call on these arrays needs, and writes nothing: the call then fails for want of memory alone, if what
/// it writes is nowhere it reads.
Expected<void> make_ready(const Kernel& kernel, std::span<const Array> inputs, std::span<const Array> outputs);

}  // namespace tile_tune::engine
