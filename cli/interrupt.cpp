#include "cli/interrupt.h"

#include <csignal>
#include <unistd.h>

#include "cli/command.h"

namespace tile_tune::cli {

namespace {

// A signal handler can reach nothing but objects of static storage; lock-free atomics are all it may touch.
std::atomic<bool> stop_requested{false};
std::atomic<bool> stop_later{false};
std::atomic<int> signal_seen{SIGINT};
constexpr int kBySignal = 128;  // what shells make of a death by signal: 130 for Ctrl-C
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int signal) {
  if (!stop_later || stop_requested) _exit(kBySignal + signal);
  signal_seen = signal;
  stop_requested = true;
}
static_assert(static_cast<int>(Exit::Interrupted) == kBySignal + SIGINT);
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

void exit_on_interrupt() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  // What batch systems end a job with, and what is left of a terminal that went away; not under nohup.
  for (const int signal : {SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  // A reader that goes away (`| head`) shows as a failed write, which is reported, not as a death by signal.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a file that grows past the user's limit.
  std::signal(SIGXFSZ, SIG_IGN);
}

StopOnInterrupt::StopOnInterrupt() : before_(stop_later.exchange(true)) {}
StopOnInterrupt::~StopOnInterrupt() { stop_later = before_; }
const std::atomic<bool>& StopOnInterrupt::requested() { return stop_requested; }

int interrupt_exit_code() { return kBySignal + signal_seen; }

const char* interrupt_name() {
  switch (signal_seen) {
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "Ctrl-C";
  }
}

}  // namespace tile_tune::cli
