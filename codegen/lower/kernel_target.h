// What Halide is told of the machine and of one kernel.
#pragma once

#include <vector>

#include "Halide.h"
#include "codegen/schedule/packed_form.h"
#include "codegen/target/target.h"

namespace tile_tune::codegen {

/// Without a runtime, not to be asked for the bounds of buffers, strict where the program may divide by 0 as it is
/// compiled, with 64-bit addresses where a buffer may need them: how large those of kernels with runtime sizes are is
/// not known.
Halide::Target kernel_target(const ir::Program& program, const std::vector<PackedForm>& forms, const Target& target,
                             bool has_runtime_sizes = false);

}  // namespace tile_tune::codegen
