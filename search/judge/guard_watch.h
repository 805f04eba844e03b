// Touched guards as replies: who runs a kernel has them watched meanwhile.
#pragma once

#include "search/judge/buffers.h"

namespace tile_tune::search {

/// As Executor::watch_guards(), of whatever thread of this process touches one.
void watch_guards(const Buffers* buffers, int reply_fd);

}  // namespace tile_tune::search
