// Running and tuning programs from C++. Part of the SDK: the standard library is all this header needs.
//
// Both calls drive the installed `tile-tune worker`: generated code is compiled and executed in processes of their
// own, never in the caller's. Errors are ProgramError; its code() tells what is wrong.
#pragma once

#include <tile_tune/edsl.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tile_tune::engine {

/// An array of the caller's, which it keeps alive during the call.
struct Array {
  void* data = nullptr;
  DType type = DType::F32;
  std::vector<int64_t> shape;         // empty: one element
  std::vector<int64_t> strides = {};  // in elements, may be negative; empty: C order
};
/// By the names of the program's inputs and outputs. Inputs are only read.
using Arrays = std::map<std::string, Array>;

/// The element type that stands for T.
template <typename T>
constexpr DType dtype_of() {
  using U = std::remove_const_t<T>;
  static_assert(std::is_same_v<U, bool> || (std::is_integral_v<U> && sizeof(U) <= 8) || std::is_same_v<U, float> ||
                    std::is_same_v<U, double>,
                "write Array{data, DType::..., shape} for other element types");
  if constexpr (std::is_same_v<U, bool>) {
    return DType::Bool;
  } else if constexpr (std::is_floating_point_v<U>) {
    return sizeof(U) == 4 ? DType::F32 : DType::F64;
  } else {
    constexpr DType kSigned[] = {DType::I8, DType::I16, DType::I32, DType::I64};
    constexpr DType kUnsigned[] = {DType::U8, DType::U16, DType::U32, DType::U64};
    constexpr int place = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
    return std::is_signed_v<U> ? kSigned[place] : kUnsigned[place];
  }
}

template <typename T>
Array array(T* data, std::vector<int64_t> shape, std::vector<int64_t> strides = {}) {
  return {const_cast<std::remove_const_t<T>*>(data), dtype_of<T>(), std::move(shape), std::move(strides)};
}

struct Options {
  std::string database;         // a file; empty: the one the command line uses
  std::string target = "host";  // or a Halide target string
  int threads = 0;              // of a kernel; 0: the cores this process may use
  std::string executable;       // tile-tune; empty: the one installed with this library
  /// Gets every warning and notice of the call, those of the Program (Program::warnings) and of its sizes before any
  /// work is begun, on the calling thread. What it throws ends the call: a function that throws on warnings is the
  /// command line's --werror. Without one, warnings are written to standard error, each text once in a process, and
  /// notices are dropped; `[](const Message&) {}` drops all.
  std::function<void(const Message&)> on_message = {};
};

enum class Schedule {
  Tuned,      // the best stored one; the default where there is none
  Default,    // without any tuning
  Reference,  // no kernel: the interpreter that judges kernels, slow
};

struct RunOptions : Options {
  Schedule schedule = Schedule::Tuned;
};

/// Executes the program once and writes its outputs into the arrays of their names; a size that the program leaves
/// open comes from the inputs' shapes. An in/out output starts from its array's value. The result is checked on a
/// sample of its elements against the reference. Returns which schedule it ran with.
/// Arrays may have any strides; of an output no two elements may lie in one place. They go to the worker process and
/// back as copies without the gaps between their elements, and the kernel is made for the order and the directions in
/// which these lie: what is transposed, reversed or repeated (a stride of 0) is not rearranged.
Schedule run(const edsl::Program& program, const Arrays& arrays, const RunOptions& options = {});

struct TuneProgress {
  int trials = 0;         // tried so far
  double seconds = 0;     // since the call
  double best_ratio = 0;  // speed of the best so far relative to the default schedule; 0: none yet
};

struct TuneOptions : Options {
  std::optional<double> seconds;  // without seconds and trials: 60 s
  std::optional<int> trials;
  std::optional<uint64_t> seed;                            // repeats a search
  std::function<bool(const TuneProgress&)> progress = {};  // called after each batch; false ends the search
};

struct TuneResult {
  int trials = 0;
  double default_ns = 0, tuned_ns = 0;  // median time of a call, both measured together at the end; 0: not measured
  double ratio = 0;                     // speed relative to the default schedule; 1: the default is the best
  uint64_t seed = 0;
  std::string database;  // where the trials and the winner are
};

/// Searches schedules, verifies and measures each on this machine and keeps them in the database, where run() and the
/// command line find the best. All sizes must have numbers (Program::bind).
TuneResult tune(const edsl::Program& program, const TuneOptions& options = {});

}  // namespace tile_tune::engine
