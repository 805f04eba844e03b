#include "base/process/fork_safe_mutex.h"

#include <pthread.h>

#include <mutex>
#include <new>
#include <vector>

namespace tile_tune::base {

namespace {

struct All {
  std::mutex mutex;
  std::vector<ForkSafeMutex*> mutexes;
};

/// Never destroyed: threads may fork while the process ends.
All& all() {
  static All& all = *new All;
  return all;
}

void lock_all() {
  all().mutex.lock();
  for (auto* mutex : all().mutexes) mutex->lock();
}

void unlock_all() {
  for (auto* mutex : all().mutexes) mutex->unlock();
  all().mutex.unlock();
}

void renew_all() {
  for (auto* mutex : all().mutexes) mutex->renew();
  new (&all().mutex) std::mutex;
}

}  // namespace

ForkSafeMutex::ForkSafeMutex() {
  const std::lock_guard lock(all().mutex);
  if (all().mutexes.empty()) pthread_atfork(lock_all, unlock_all, renew_all);
  all().mutexes.push_back(this);
}

void ForkSafeMutex::renew() { new (&mutex_) std::shared_mutex; }

}  // namespace tile_tune::base
