// Worker processes, as the tuner sees them: requests go in, replies come out, whatever dies in between.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/process/fd.h"
#include "base/process/lines.h"
#include "search/timing/deadline.h"
#include "search/workers/onlooker.h"
#include "search/workers/protocol.h"

namespace tile_tune::search {

/// Not thread-safe; the processes are in groups of their own, so a Ctrl-C at the terminal does not reach them.
class Pool {
 public:
  /// `command` is the worker's program and arguments; it speaks the protocol on its standard input, a socket, which is
  /// also its standard output. Processes start when there is work for them.
  Pool(std::vector<std::string> command, int size, Setup setup, const std::atomic<bool>* stop, Onlooker onlooker = {});
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  /// Asks the workers to end and waits for them, not for long; busy ones are killed.
  ~Pool();

  using OnAnswer = std::function<void(size_t answered)>;
  /// Answers all requests, at most `size` at a time, in any order. A worker that dies is replaced and its request asked
  /// once more before it counts as a Crash; so is one that somebody stopped (SIGSTOP) and does not let go on. Requests
  /// that are unanswered at the deadline, or when stop is set, are nullopt; the workers on them are killed.
  std::vector<std::optional<Reply>> ask(const std::vector<Request>& requests, Deadline deadline = {},
                                        const OnAnswer& on_answer = {});
  std::optional<Reply> ask(const Request& request, Deadline deadline = {}) {
    return ask(std::vector<Request>{request}, deadline).front();
  }

 private:
  struct Process {
    pid_t pid = -1;
    base::Fd socket;
    std::optional<base::LineReader> replies;
    bool ready = false;     // has answered Setup
    int request = -1;       // number of the one it works on; -1: none (or Setup)
    double stopped_at = 0;  // when it was first seen stopped by a signal, by now_seconds(); 0: it runs
  };
  struct Round;  // one call of ask()

  Result<void> start(Process& process);
  void end(Process& process, bool kill_it);
  void look_for_stopped(Round& round);
  void assign(Process& process, Round& round);
  void wait_for_replies(Round& round);
  void take_replies(Process& process, Round& round);
  void lose(Process& process, Round& round, const std::string& reason, Outcome outcome = Outcome::Crash);

  std::vector<std::string> command_;
  Setup setup_;
  const std::atomic<bool>* stop_;
  Onlooker onlooker_;
  std::vector<Process> processes_;
};

}  // namespace tile_tune::search
