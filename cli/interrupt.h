// Ctrl-C, SIGTERM and SIGHUP: at once for most commands, at the next safe point for those that have something to keep.
#pragma once

#include <atomic>

namespace tile_tune::cli {

/// From now on Ctrl-C ends the process with exit code 130 at once, SIGTERM with 143, SIGHUP (unless ignored) with 129.
void exit_on_interrupt();

/// While it lives, the first of these sets the flag and only the second one ends the process.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
  const std::atomic<bool>& requested() const;
};

}  // namespace tile_tune::cli
