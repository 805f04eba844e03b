#include "base/process/wait.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace tile_tune::base {

namespace {

constexpr auto kLook = std::chrono::milliseconds(5);  // between two looks at whether to stop

}  // namespace

Ending ending_of(int status) {
  Ending ending;
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
  return ending;
}

std::optional<Ending> wait_for(pid_t child, const std::atomic<bool>* stop) {
  bool killed = false;
  for (;;) {
    int status = 0;
    const bool looks = stop != nullptr && !killed;
    const pid_t ended = waitpid(child, &status, looks ? WNOHANG : 0);
    if (ended == child) return ending_of(status);
    if (ended < 0 && errno != EINTR) return std::nullopt;
    if (ended != 0) continue;
    if (*stop) {
      kill(-child, SIGKILL);
      killed = true;
    } else {
      std::this_thread::sleep_for(kLook);
    }
  }
}

}  // namespace tile_tune::base
