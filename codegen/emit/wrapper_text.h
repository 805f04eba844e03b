// The generated C sources between the public entries and Halide's code.
#pragma once

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// The symbol under which a kernel's Halide code is compiled; local to its object in the archive.
std::string kernel_symbol(const std::string& function);

/// The entries of one kernel: CPU check (names as __builtin_cpu_supports spells them) and halide_buffer_t's made from
/// constants; the other checks are the runtime's. Includes LIBRARY.h, so that the compiler compares the two, and
/// tile_tune_rt.h.
std::string wrapper_text(const std::string& library, const Signature& kernel,
                         const std::vector<std::string>& cpu_features);

}  // namespace tile_tune::codegen
