// Kernels for handles (engine/handles): the side of the process that compiles them.
#pragma once

#include <string>

#include "codegen/backend/backend.h"

namespace tile_tune::engine {

/// What `tile-tune worker --kernel` writes to its standard output for what it reads from its standard input: the kernel
/// of a program by the schedule that is asked for, compiled and compared with the reference here (handles/request.h).
std::string answer_kernel_request(const std::string& request, const codegen::Backend& backend);

}  // namespace tile_tune::engine
