// What work is done with: databases, what is compiled for, and where the words about it go.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "codegen/target/target.h"
#include "engine/session/reporter.h"

namespace tile_tune::engine {

/// Of a kernel: Halide's thread pool holds at most 256 (MAX_THREADS in its runtime's thread_pool_common.h).
inline constexpr int kMaxThreads = 256;

struct Settings {
  std::vector<std::string> databases = {};  // the first is written, later ones are read
  std::string target{codegen::kHost};       // of what builds and tunes several, with commas between them
  int threads = 0;                          // 0: the cores this process may use
  int device = 0;                           // of host-opencl and host-cuda: which of the machine's
  bool deterministic = false;
};

struct Session {
  Settings settings;
  Reporter report;
  std::string executable = "/proc/self/exe";  // the tile-tune whose `worker` verb compiles and runs kernels
  double began = 0;                           // when the work did, by search::now_seconds()

  /// Whether the settings mean anything, for commands that do not use them, too: an unknown target is an error, one
  /// that is not here is not.
  Result<void> check_settings() const;
  /// --threads, else the cores this process may use.
  int threads() const;
  /// Warns where kernels are to be timed with more threads than this process may use CPUs.
  void warn_of_threads() const;
  /// The one target to verify and time kernels on. Several, or one that is not here, are errors.
  Result<codegen::Target> target() const;
  /// The same, but that it need only be one that kernels are compiled for.
  Result<codegen::Target> explained_target() const;
  /// All that --target names, at least one, as they are named; they need not be here.
  Result<std::vector<codegen::Target>> targets() const;
  /// The file that is written: --db, else $TILE_TUNE_DB, else the user's data folder.
  Result<std::filesystem::path> database() const;
  /// All files that are read, the one that is written first.
  Result<std::vector<std::filesystem::path>> databases() const;

 private:
  /// As they are called, before anybody looked for their devices.
  Result<std::vector<std::pair<std::string, codegen::Target>>> named_targets() const;
};

}  // namespace tile_tune::engine
