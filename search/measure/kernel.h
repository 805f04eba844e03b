// Compiled kernels and Halide's runtime as loaded libraries. Only children of a worker load them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "codegen/target/probe.h"
#include "search/measure/kernel_abi.h"
#include "search/measure/protocol.h"

namespace tile_tune::search {

/// Halide's runtime in this process: one thread pool of fixed size, errors as values. Stays loaded.
class Runtime {
 public:
  /// Loads the library, sets the number of threads, starts them, and gives each a core of its own as far as the
  /// affinity mask goes (unpinned, two spinning threads can share a core: a 72 us call took 8 ms, design/search.md).
  static Result<Runtime> load(const std::filesystem::path& library, int threads);
  int threads() const { return threads_; }
  /// The cores this process could use before its threads were pinned, the calling thread's first.
  const std::vector<int>& cores() const { return cores_; }
  /// Runs tasks on the pool's threads; each has a thread of its own if count is at most threads().
  codegen::ParallelFor parallel_for() const;

 private:
  using DoParallelFor = int (*)(void*, int (*)(void*, int, uint8_t*), int, int, uint8_t*);
  int threads_ = 1;
  std::vector<int> cores_;
  DoParallelFor do_parallel_for_ = nullptr;
};

/// What the runtime's error handler was last told, then forgotten; empty if nothing.
std::string take_runtime_error();

class Kernel {
 public:
  static Result<Kernel> load(const std::filesystem::path& library);
  using Entry = int (*)(void**);
  /// 0, or one of Halide's error codes.
  int operator()(void** argv) const { return entry_(argv); }
  /// What packs constant number `tensor` for this kernel (codegen/lower/compile.h); nullptr if it takes that as it is.
  Entry packing(int tensor) const;
  /// What the library has to say of itself after a call (kKernelNote), or nothing.
  std::string note() const { return note_ ? note_() : ""; }

 private:
  void* handle_ = nullptr;
  Entry entry_ = nullptr;
  const char* (*note_)() = nullptr;
};

/// A fault for a code other than 0, in the runtime's words.
Reply run_fault(int code);

}  // namespace tile_tune::search
