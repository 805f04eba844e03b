#include "base/process/wait.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace tile_tune::base {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(5);  // between two looks at whether to stop

}  // namespace

Ending ending_of(int status) {
  Ending ending;
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
  return ending;
}

std::optional<Ending> wait_for(pid_t child, const std::atomic<bool>* stop, std::chrono::milliseconds grace) {
  bool killed = false, given_up = false;
  std::optional<Clock::time_point> stopped_at;
  for (;;) {
    int status = 0;
    const bool looks = stop != nullptr && !killed;
    const pid_t changed = waitpid(child, &status, looks ? WNOHANG | WUNTRACED | WCONTINUED : 0);
    if (changed < 0 && errno != EINTR) return std::nullopt;
    if (changed == child && WIFSTOPPED(status)) {
      stopped_at = Clock::now();
    } else if (changed == child && WIFCONTINUED(status)) {
      stopped_at.reset();
    } else if (changed == child) {
      Ending ending = ending_of(status);
      ending.was_stopped = given_up;  // one that went on may have ended before that was seen
      return ending;
    }
    if (!looks || changed != 0) continue;
    if (*stop || (stopped_at && Clock::now() - *stopped_at > grace)) {
      given_up = !*stop;
      kill(-child, SIGKILL);
      killed = true;
    } else {
      std::this_thread::sleep_for(kLook);
    }
  }
}

}  // namespace tile_tune::base
