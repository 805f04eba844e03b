// Is a kernel right? Judged against the reference, on buffers whose edges are guarded.
#pragma once

#include "search/judge/executor.h"

namespace tile_tune::search {

/// Runs the kernel on two sets of buffers, one flush with the guards behind, one flush with those before, and on
/// special numbers where the problem has them, each call limited to `call_seconds` by SIGALRM. A touched guard ends the
/// process with a reply on `reply_fd`. Outcomes: Ok, Wrong, RunError, OutOfMemory; the rest is for run_in_child to see.
/// With `hopeless_ns` one call alone, flush with the guards behind. Slow: it was right, but took longer (one Timing).
/// No matter to executors whose first call loads the kernel.
Reply verify(const Executor& executor, const Problem& problem, const PreparedKernel& kernel, double call_seconds,
             int reply_fd, double hopeless_ns = 0);

/// While it lives, SIGALRM ends the process after `seconds`, give or take an eighth. They are counted in eighths: of
/// those that pass while the process is stopped, or the machine asleep, one counts.
class CallLimit {
 public:
  explicit CallLimit(double seconds);
  CallLimit(const CallLimit&) = delete;
  CallLimit& operator=(const CallLimit&) = delete;
  ~CallLimit();
};

/// Compares outputs with what is expected of them. Ok with the largest error, or Wrong.
Reply compare_outputs(const Problem& problem, const Memory& memory);

}  // namespace tile_tune::search
