// Work in a forked child of this process, which must have one thread.
#pragma once

#include <sys/types.h>

#include <functional>

#include <tl/expected.hpp>

#include "base/process/streams.h"

namespace tile_tune::base {

struct Fork {
  Streams streams = {};
  bool own_group = false;        // the child leads a process group
  bool default_signals = false;  // whatever this process handles or ignores
};

/// This process dies with the thread of its parent that started it; at once, if that process is gone already.
void die_with(pid_t parent);

/// This process is asked to end (SIGTERM) when the thread that started it does; at once, if nobody reads its standard
/// error any more.
void end_with_starter();

/// The child, or an errno. The child dies with this process; `work` gives its exit code, and std::exceptions that
/// leave `work` are written to its standard error and make it 1.
tl::expected<pid_t, int> fork_child(const Fork& options, const std::function<int()>& work);

}  // namespace tile_tune::base
