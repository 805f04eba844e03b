// Whether a program's tensors can be held at all, told before anything is computed.
#pragma once

#include "frontend/ir/program.h"

namespace tile_tune::cli {

/// Refuses a bound program whose tensors together are larger than the machine's memory (or this process's limit), and
/// names the largest of them. Class Failure, out-of-memory.
Result<void> check_memory(const ir::Program& program);

}  // namespace tile_tune::cli
