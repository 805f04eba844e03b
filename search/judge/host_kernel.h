// Compiled kernels and Halide's runtime, loaded. Only children of a worker load them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/target/probe.h"
#include "search/judge/code.h"
#include "search/judge/executor.h"
#include "search/judge/kernel_arguments.h"

namespace tile_tune::search {

/// Halide's runtime in this process, with the thread pool of emitted libraries, of fixed size, in place of its own;
/// errors as values. Stays loaded.
class Runtime {
 public:
  /// Loads the library, sets the number of threads, and starts them.
  static Result<Runtime> load(const std::filesystem::path& library, int threads);
  int threads() const { return threads_; }
  /// Gives each thread a core of its own as far as the affinity mask goes (unpinned, two spinning threads can share a
  /// core: a 72 us call took 8 ms). For timing: two processes may choose the same cores.
  void pin_threads() const;
  /// The cores this process could use when the runtime was loaded, the calling thread's first.
  const std::vector<int>& cores() const { return cores_; }
  /// Runs tasks on the pool's threads; each has a thread of its own if count is at most threads().
  codegen::ParallelFor parallel_for() const;

 private:
  int threads_ = 1;
  std::vector<int> cores_;
};

/// What the runtime's error handler was last told, then forgotten; empty if nothing.
std::string take_runtime_error();

class Kernel final : public PreparedKernel {
 public:
  /// `function`: the name the kernel was compiled under; `takes_context`: its first argument and that of what packs its
  /// constants is Halide's user context, for which the runtime here gets a null pointer.
  static Result<Kernel> load(const std::filesystem::path& library, const std::string& function = kKernelFunction,
                             bool takes_context = false);
  using Entry = int (*)(void**);
  /// 0, or one of Halide's error codes.
  int operator()(void** argv) const { return entry_(argv); }
  /// After calls: until what they queued is done. 0, or an error code.
  int finish() const { return finish_ ? finish_() : 0; }
  /// What packs constant number `tensor` for this kernel (codegen/backend/kernel_abi.h); nullptr if it takes that as it
  /// is.
  Entry packing(int tensor) const;
  bool takes_context() const { return takes_context_; }
  /// What the library has to say of itself after a call (kKernelNote), or nothing.
  std::string note() const override { return note_ ? note_() : ""; }

 private:
  Code code_;
  std::string function_;
  bool takes_context_ = false;
  Entry entry_ = nullptr;
  const char* (*note_)() = nullptr;
  int (*finish_)() = nullptr;
};

}  // namespace tile_tune::search
