// Ctrl-C, SIGTERM and SIGHUP: at once for most commands, at the next safe point for those that have something to keep.
#pragma once

#include <atomic>

namespace tile_tune::cli {

/// From now on Ctrl-C ends the process with exit code 130 at once, SIGTERM with 143, SIGHUP (unless ignored) with 129.
void exit_on_interrupt();

/// While one lives, the first of these sets the flag and only the second one ends the process. A command that says how
/// far it came has one from its beginning.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
  static const std::atomic<bool>& requested();

 private:
  const bool before_;  // another one lived already
};

/// What a process that such a signal stopped ends with: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.
int interrupt_exit_code();
/// Which it was: "Ctrl-C", "SIGTERM", "SIGHUP".
const char* interrupt_name();

}  // namespace tile_tune::cli
