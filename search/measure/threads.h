// The threads of this process: which core each runs on, and whether any is awake.
#pragma once

#include <sys/types.h>

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

/// How long threads of this process, of those it has now, were ready to run and had no core, in nanoseconds since they
/// started: another process had it. 0 where the system does not count that (Linux without CONFIG_SCHED_INFO).
double run_delay_ns();

/// Waits until no thread but this one runs, but not for more than a tenth of a second (OpenBLAS's spin for 2^26
/// cycles, some 25 ms; libgomp's for some 5 ms).
void wait_for_quiet();

}  // namespace tile_tune::search
