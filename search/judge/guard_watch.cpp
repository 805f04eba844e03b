#include "search/judge/guard_watch.h"

#include <signal.h>
#include <unistd.h>

#include "search/judge/reply.h"

namespace tile_tune::search {
namespace {

// What the signal handler needs, made before anything can fault: the handler itself may only write and exit.
const Buffers* watched = nullptr;
int watched_reply_fd = -1;
std::vector<std::string> outside_replies;  // one a buffer

void on_fault(int signal, siginfo_t* info, void*) {
  if (const int buffer = watched ? watched->guarding(info->si_addr) : -1; buffer >= 0) {
    const ssize_t written = write(watched_reply_fd, outside_replies[buffer].data(), outside_replies[buffer].size());
    _exit(written > 0 ? 0 : 1);
  }
  // Not ours: returning runs the instruction again, which then ends the process by the signal itself.
  ::signal(signal, SIG_DFL);
}

}  // namespace

void watch_guards(const Buffers* buffers, int reply_fd) {
  watched = nullptr;
  if (buffers) {
    outside_replies.clear();
    for (const auto& name : buffers->names())
      outside_replies.push_back(encode(Reply::fault(Outcome::Wrong, "it touched memory outside " + name)) + "\n");
  }
  watched = buffers;
  watched_reply_fd = reply_fd;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace tile_tune::search
