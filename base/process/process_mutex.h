// A mutex that a process begins with unlocked: after fork() the thread that had it is not there to unlock it.
//
// What it guards is as the other thread left it: this is for locks that are held while something long is waited for.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

namespace tile_tune::base {

class ProcessMutex {
 public:
  ProcessMutex() : now_(new Owned{getpid(), {}}) {}
  ~ProcessMutex() { delete now_.load(); }
  ProcessMutex(const ProcessMutex&) = delete;
  ProcessMutex& operator=(const ProcessMutex&) = delete;

  /// The parent's, which may be locked, stays allocated.
  std::timed_mutex& of_this_process() {
    Owned* known = now_.load();
    while (known->process != getpid()) {
      auto own = std::unique_ptr<Owned>(new Owned{getpid(), {}});
      if (now_.compare_exchange_strong(known, own.get())) return own.release()->mutex;
    }
    return known->mutex;
  }

 private:
  struct Owned {
    pid_t process;
    std::timed_mutex mutex;
  };
  std::atomic<Owned*> now_;
};

}  // namespace tile_tune::base
