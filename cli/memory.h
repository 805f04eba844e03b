// Whether a program is too large to be run at all, told before anything is computed.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::cli {

/// Refuses a bound program whose tensors together are larger than the machine's memory (or this process's limit), and
/// names the largest of them. Class Failure, out-of-memory.
Result<void> check_memory(const ir::Program& program);

/// What no command could run on any machine: check_countable(), unless no kernel is needed (codegen/schedule/limits.h).
Result<void> check_extents(const ir::Program& program);

/// For kernels: what they cannot count, whatever the machine (codegen/schedule/limits.h), then check_memory().
Result<void> check_size(const ir::Program& program);

}  // namespace tile_tune::cli
