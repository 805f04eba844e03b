// The generated C sources between the public entries and Halide's code.
#pragma once

#include "codegen/emit/signature.h"

namespace tile_tune::codegen {

/// The symbol under which a kernel's Halide code is compiled; local to its object in the archive.
std::string kernel_symbol(const std::string& function);

/// The entries of one kernel: argument checks, CPU check (names as __builtin_cpu_supports spells them), DLPack checks,
/// and halide_buffer_t's made from constants. Includes LIBRARY.h, so that the compiler compares the two.
std::string wrapper_text(const std::string& library, const Signature& kernel,
                         const std::vector<std::string>& cpu_features);

/// LIBRARY_error_string.
std::string error_string_text(const std::string& library);

/// Hooks that replace the runtime's own: errors reach the caller as codes and nothing is printed (Halide's would print
/// and abort); the thread pool counts the CPUs the process may use (Halide's counts those of the machine).
std::string runtime_hooks_text();

}  // namespace tile_tune::codegen
