// How processes end.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

namespace tile_tune::base {

struct Ending {
  int exit_code = 0;
  int signal = 0;            // that it was killed by; 0: it ended by itself
  bool was_stopped = false;  // somebody had stopped it (SIGSTOP), and it was killed for that
  bool ok() const { return exit_code == 0 && signal == 0; }
};

/// Of a status that waitpid() gave.
Ending ending_of(int status);

inline constexpr std::chrono::milliseconds kGrace{10'000};  // as the pool waits for a worker that was stopped

/// Waits for a child; nullopt if it is none of ours any more. With `stop` (may be null) the child's process group,
/// which it must lead, is killed when that is set, and when somebody has stopped the child for longer than `grace`.
std::optional<Ending> wait_for(pid_t child, const std::atomic<bool>* stop = nullptr,
                               std::chrono::milliseconds grace = kGrace);

}  // namespace tile_tune::base
