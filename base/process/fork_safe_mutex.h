// A mutex that fork() waits for: the child finds it unlocked, and what it guards whole.
//
// For what lives as long as the process and is looked up or changed in microseconds, without taking another such mutex
// and without forking meanwhile. What is held for long is a ProcessMutex.
#pragma once

#include <shared_mutex>

namespace tile_tune::base {

class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void lock_shared() { mutex_.lock_shared(); }
  void unlock_shared() { mutex_.unlock_shared(); }

  /// The child's: the thread that has it locked has another number there, by which glibc would not know it.
  void renew();

 private:
  std::shared_mutex mutex_;
};

}  // namespace tile_tune::base
