// The threads of this process: which core each runs on, whether it gets it, and whether any is awake.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace tile_tune::search {

/// Gives threads that libraries start a core each. The thread that makes it is the one that calls kernels.
class ThreadPlacement {
 public:
  /// Threads there are now have their places.
  explicit ThreadPlacement(std::vector<int> cores);
  /// The calling thread may run anywhere, as libraries that are being loaded expect: they count the cores it may use.
  void open() const;
  /// The calling thread goes to the first core, threads that are new to the others in turn.
  void close();

 private:
  std::vector<int> cores_;
  std::set<pid_t> known_;
};

/// Sees how long threads of this process are ready to run and have no core: another has it. Linux counts that with
/// CONFIG_SCHED_INFO; elsewhere nothing is seen. Files stay open, since opening some forty takes as long as threads of
/// a pool stay awake.
class CoreWatch {
 public:
  /// From now on, for the threads there are now.
  void begin();
  /// Nanoseconds since then of the thread that waited longest: the others wait for its part of the work.
  double longest_wait_ns();

 private:
  struct Thread {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file;
    double before = 0;
  };
  std::map<pid_t, Thread> threads_;
};

/// Waits until no thread but this one runs, but not for more than a tenth of a second (OpenBLAS's spin for 2^26
/// cycles, some 25 ms; libgomp's for some 5 ms).
void wait_for_quiet();

}  // namespace tile_tune::search
