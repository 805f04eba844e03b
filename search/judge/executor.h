// What runs kernels on a device: their memory, their calls, the time these take. Judging and timing know nothing else
// of it, so that a GPU's executor stands beside the host's (host_executor.h) without touching them.
//
// What an executor is handed was made by the same executor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "search/judge/guarded_buffer.h"
#include "search/judge/problem.h"
#include "search/judge/reply.h"

namespace tile_tune::search {

/// A kernel that is ready to be called.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  /// What it has to say of itself after a call, or nothing.
  virtual std::string note() const { return ""; }
};

/// The memory that kernels of one problem run on: a buffer for each input and output, with guards around them.
class Memory {
 public:
  virtual ~Memory() = default;
  /// Both ends of every buffer touch a guard, whichever was asked for.
  virtual bool fill_pages() const = 0;
  /// Before a run whose result counts: fills outputs with `pattern`, in/out ones with their initial value.
  virtual void prepare_outputs(std::byte pattern) = 0;
  /// In/out outputs get their initial value back; nothing where there are none.
  virtual void restore() = 0;
  /// Leaves nothing of them in a cache.
  virtual void evict() const = 0;
  virtual tensor::Array output(int tensor) const = 0;         // in C order
  virtual tensor::Array stored_output(int tensor) const = 0;  // as the program stores it
  /// A sentence about the first input that changed or gap that was written, or empty.
  virtual std::string trespass() const = 0;
};

struct Timed {
  double ns = 0;         // from before the first call to after the last
  int code = 0;          // of the first call that failed, which is the last; see Executor::fault()
  double launch_ns = 0;  // by a device's clock: what the host took to hand over the calls, which is no part of `ns`
};

/// One kernel on one problem's memory: the constants it takes packed were packed before.
class Call {
 public:
  virtual ~Call() = default;
  /// So many calls back to back.
  virtual Timed run(int64_t calls) = 0;
  /// Leaves nothing of the packed operands in a cache.
  virtual void evict() const = 0;
  /// A sentence about the first gap beside a packed operand that was written, or empty.
  virtual std::string trespass() const = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual Result<std::unique_ptr<PreparedKernel>> load(const std::filesystem::path& object) const = 0;
  /// `problem` must outlive it: inputs may be of gigabytes and are not copied a second time.
  virtual std::unique_ptr<Memory> allocate(const Problem& problem, Flush flush) const = 0;
  /// Packs constants. All but `flush` must outlive the call.
  virtual std::unique_ptr<Call> bind(const ir::Program& program, const PreparedKernel& kernel, Memory& memory,
                                     Flush flush) const = 0;
  /// From now on a touched guard of `memory` ends the process with a Wrong reply, and what a kernel takes of scratch
  /// memory is NaN until it is written, where the executor has that in hand; nullptr ends the watch.
  virtual void watch_guards(const Memory* memory, int reply_fd) const = 0;
  /// What a call's code other than 0 says. Crash: nothing runs in this process any more.
  virtual Reply fault(int code) const = 0;
  /// Whether a kernel's first call takes, beside itself, what its loading on the device takes.
  virtual bool first_call_loads() const { return false; }
  /// Whether the device is slower at present than it is by itself, as far as it tells.
  virtual bool is_held_back() const { return false; }
  /// How long so many floating-point operations take now at the device's peak, as multiply-adds of a type; 0: not
  /// known.
  virtual double flop_ns(double, DType) const { return 0; }
  /// How long it takes now to copy so many bytes within the device's memory; 0: it has no clock of its own.
  virtual double copy_ns(int64_t) const { return 0; }
  /// What is to be said of the device beside times that were just taken on it; "": nothing.
  virtual std::string condition() const { return ""; }
};

}  // namespace tile_tune::search
