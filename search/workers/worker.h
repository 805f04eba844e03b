// The process behind `tile-tune worker`: builds, verifies and times what it is asked to, one request at a time.
//
// It is a single-threaded zygote: it warms the compiler up once and forks a limited child for every request. It never
// runs generated code itself, for a child forked after a parallel Halide run silently works at half speed, and
// never compiles a candidate itself, for the compiler may abort.
#pragma once

#include <sys/types.h>

#include "codegen/backend/backend.h"

namespace tile_tune::search {

/// Reads requests from in_fd and writes replies to out_fd (which may be the same) until Quit or the end of in_fd. If
/// that ends without Quit the tuner has died: children are killed and the session's directory is removed. Returns an
/// exit code: 0, or 1 after a message that cannot be read.
int worker_main(int in_fd, int out_fd, const codegen::Backend& backend);

}  // namespace tile_tune::search
