#include "base/process/wait.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <thread>

namespace tile_tune::base {

Ending ending_of(int status) {
  Ending ending;
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending.exit_code = WEXITSTATUS(status);
  return ending;
}

tl::expected<std::optional<Ending>, int> Waiter::look() {
  int status = 0;
  const pid_t changed = waitpid(child_, &status, WNOHANG | WUNTRACED | WCONTINUED);
  if (changed < 0 && errno != EINTR) return tl::unexpected(errno);
  if (changed == child_ && WIFSTOPPED(status)) {
    stopped_at_ = std::chrono::steady_clock::now();
  } else if (changed == child_ && WIFCONTINUED(status)) {
    stopped_at_.reset();
  } else if (changed == child_) {
    Ending ending = ending_of(status);
    ending.was_stopped = given_up_ && ending.signal == SIGKILL;  // one that went on may have ended before that was seen
    return ending;
  }
  if (!given_up_ && stopped_at_ && std::chrono::steady_clock::now() - *stopped_at_ > grace_) {
    given_up_ = true;
    kill();
  }
  return std::nullopt;
}

void Waiter::kill() const { ::kill(leads_group_ ? -child_ : child_, SIGKILL); }

std::optional<Ending> wait_for(pid_t child, const StopAsked& stop, std::chrono::milliseconds grace) {
  Waiter waiter(child, stop.may_be(), grace);
  for (bool killed = false;;) {
    const auto ending = waiter.look();
    if (!ending) return std::nullopt;
    if (*ending) return **ending;
    if (!killed && stop()) {
      waiter.kill();
      killed = true;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace tile_tune::base
