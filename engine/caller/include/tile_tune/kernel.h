// Kernels in the caller's process: compiled once, called as often as you like.
//
//   const auto matmul = engine::compile(program);
//   if (!matmul) return complain(matmul.error().message);
//   (*matmul)({{engine::array(a.data(), {M, K}), engine::array(b.data(), {K, N})}},
//             {{engine::array(c.data(), {M, N})}});
//
// A kernel is compiled, and judged against the reference on random numbers, by the installed `tile-tune` in a process
// of its own; this one only loads it. Part of the SDK: the standard library is all this header needs.
#pragma once

#include <tile_tune/array.h>
#include <tile_tune/edsl.h>
#include <tile_tune/expected.h>
#include <tile_tune/options.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tile_tune::engine {

struct CompileOptions : Options {
  /// Tuned: the best stored schedule, else the default one. Reference is refused.
  Schedule schedule = Schedule::Tuned;
  /// With Tuned, of a program that was not tuned for this machine: search so many seconds first. 0: do not.
  double tune_seconds = 0;
  /// The same while the program goes on, with the kernel there is: one search at a time, at the lowest priority. The
  /// kernel that it finds is called from then on, if it is faster (the 95 % interval of the ratio excludes 1). Every
  /// trial is in the database as soon as it is known, however the process ends. Excludes tune_seconds.
  double background_seconds = 0;
  /// The same bits by every schedule, on any number of threads and any CPU.
  bool deterministic = false;
  /// Asked some times a second, on the calling thread, while a call waits for its kernel to be compiled or searched;
  /// true ends that process and the call, with the error interrupted. Trials are kept.
  std::function<bool()> interrupted = {};
  /// Also of a program that has numbers for its sizes: compile at the first call, for the strides of its arrays.
  bool at_first_call = false;
  /// Where compiled kernels are kept for later processes: a folder, "" for none. Not given: `kernels` in
  /// $XDG_CACHE_HOME/tile-tune or ~/.cache/tile-tune. It is made with the mode 0700, and one that others may write is
  /// not used. All files in it take 256 MB at most; those that were not used for longest go first.
  std::optional<std::string> cache = {};
};

/// Copies are cheap and call the same kernels.
class Kernel {
 public:
  /// Computes the outputs from the inputs, both in the order of the program's signature. An in/out output starts from
  /// its array's value. Arrays may have any strides; of an output no two elements may lie in one place. May be called
  /// from several threads at once. The first call for other shapes or strides compiles (about a second), later ones
  /// neither compile nor take memory, but for what the kernel itself computes on the way, which each thread keeps.
  ///
  /// Errors, outputs are then as they were unless it says otherwise: array-count, dtype-mismatch, size-conflict,
  /// bad-array (null, misaligned, an output over another array, strides that no kernel takes), gather-out-of-range
  /// (outputs hold nothing of meaning), out-of-memory, and those of compile().
  Expected<void> operator()(std::span<const Array> inputs, std::span<const Array> outputs) const;

  /// Which schedule the kernel that was compiled last has, Tuned or Default; none before one was compiled.
  std::optional<Schedule> schedule() const;

  class Impl;
  explicit Kernel(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

/// An output as a caller makes it.
struct OutputType : ArrayType {
  /// The bytes of an element that an in/out output starts from where its caller has no values: 0, or the identity of
  /// its operation. Of outputs that are not in/out none.
  std::string initial;
};

/// What a program is on arrays.
struct Fit {
  std::map<std::string, int64_t> sizes;  // that the program leaves open
  std::vector<OutputType> outputs;
};

/// `inputs` in the order of the program's signature; of those without dimensions the element is looked at, since it may
/// be a size. Errors: array-count, dtype-mismatch, rank-mismatch, size-conflict, and those of the program at these
/// sizes.
Expected<Fit> fit(const edsl::Program& program, std::span<const Array> inputs);

/// Positions of the inputs whose value is a size, so that it decides about the kernel and the outputs.
std::vector<size_t> size_inputs(const edsl::Program& program);

/// Ends searches in the background, for good, within 0.2 s. The end of the process does the same.
void shutdown();

/// A handle of the program. If it has numbers for all its sizes, its kernel for arrays in C order is ready when this
/// returns, from the cache where an earlier call, of any process, left it; otherwise the first call finds out the sizes
/// from its arrays. Errors: no-executable, cannot-start (a sandbox that forbids other processes), unknown targets and
/// whatever else the command line says of a program.
Expected<Kernel> compile(const edsl::Program& program, const CompileOptions& options = {});

}  // namespace tile_tune::engine
