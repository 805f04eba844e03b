#include "base/process/fork.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>

namespace tile_tune::base {

namespace {

void set_streams(const Streams& streams) {
  if (streams.in == kNothing) dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  if (streams.in >= 0) dup2(streams.in, STDIN_FILENO);
  if (streams.out >= 0) dup2(streams.out, STDOUT_FILENO);
  if (streams.err >= 0) dup2(streams.err, STDERR_FILENO);
}

[[noreturn]] void be_child(const Fork& options, pid_t parent, const std::function<int()>& work) {
  if (options.default_signals)
    for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  if (options.own_group) setpgid(0, 0);
  die_with(parent);
  set_streams(options.streams);
  try {
    _exit(work());
  } catch (const std::exception& error) {
    if (write(STDERR_FILENO, error.what(), std::strlen(error.what())) < 0) _exit(1);
    _exit(1);
  }
}

}  // namespace

void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // it died before it was asked to take us along
}

void end_with_starter() {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  pollfd errors{STDERR_FILENO, 0, 0};
  if (poll(&errors, 1, 0) > 0 && (errors.revents & POLLERR)) raise(SIGTERM);
}

tl::expected<pid_t, int> fork_child(const Fork& options, const std::function<int()>& work) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) return tl::unexpected(errno);
  if (child == 0) be_child(options, parent, work);
  if (options.own_group) setpgid(child, child);  // whichever of the two comes first
  return child;
}

}  // namespace tile_tune::base
