// Kernels of one program timed at several of its sizes: some made for one size, some for many.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/ir/program.h"
#include "search/workers/machine_lock.h"
#include "search/workers/pool.h"
#include "search/workers/session_directory.h"

namespace tile_tune::search {

struct SizeContestOptions {
  std::vector<std::string> command = {"/proc/self/exe", "worker"};  // must end in worker_main()
  codegen::Target target;
  uint64_t seed = 0;
  Until until = {};  // what is not done by then is not done
  Onlooker onlooker = {};
};

class SizeContest {
 public:
  static Result<std::unique_ptr<SizeContest>> start(SizeContestOptions options);

  /// Builds the schedule for this program on which it is valid; the numbers that time() takes, in order. One that does
  /// not compile fails when it is timed.
  struct Source {
    ir::Program program;
    codegen::Schedule schedule;
  };
  Result<std::vector<size_t>> build(const std::vector<Source>& sources);

  /// Each kernel is verified at `program`, which is canonical and bound, and those that are right are raced. One Timing
  /// each; log_ratios are to the first.
  Result<std::vector<Timing>> time(const ir::Program& program, const std::vector<size_t>& kernels);

 private:
  SizeContest(SizeContestOptions options, SessionDirectory directory);

  SizeContestOptions options_;
  SessionDirectory directory_;
  std::vector<Reply> built_;  // by kernel
  int problems_ = 0;
  Pool pool_;  // last: workers end before the directory goes
};

}  // namespace tile_tune::search
