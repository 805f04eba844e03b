#include "engine/handles/background.h"

#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "base/process/fork_safe_mutex.h"

namespace tile_tune::engine {

namespace {

class Background {
 public:
  void add(std::function<void(const std::atomic<bool>&)> work) {
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    waiting_.push_back(std::move(work));
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    changed_.notify_one();
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      waiting_.clear();
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      if (waiting_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const auto work = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      work(stop_);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stop_ = false;
  std::deque<std::function<void(const std::atomic<bool>&)>> waiting_;
  std::thread thread_;
};

/// A process's own. It is never destroyed: of a forked child its thread would be joined, which is not there.
struct OfProcess {
  pid_t process;
  Background* background;
};

base::ForkSafeMutex of_process_mutex;
OfProcess of_process{0, nullptr};

Background& background() {
  const std::lock_guard lock(of_process_mutex);
  if (of_process.process != getpid()) of_process = {getpid(), new Background};
  return *of_process.background;
}

struct AtExit {
  ~AtExit() { end_background(); }
} at_exit;

}  // namespace

void in_background(std::function<void(const std::atomic<bool>& stop)> work) { background().add(std::move(work)); }

void end_background() {
  if (of_process.process == getpid()) of_process.background->end();
}

}  // namespace tile_tune::engine
