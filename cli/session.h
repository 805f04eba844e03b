// What every command gets: the common options as given, and where its words go.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/report.h"
#include "codegen/target/target.h"

namespace CLI {
class App;
}

namespace tile_tune::cli {

struct CommonOptions {
  std::vector<std::string> databases;  // the first is written, later ones are read (rulings 17)
  std::string target = "host";
  int threads = 0;  // 0: the cores this process may use
  bool deterministic = false;
  bool werror = false;
  bool json = false, quiet = false, verbose = false;
  std::string color = "auto";
};

void add_common_options(CLI::App& app, CommonOptions& options);

/// Whether diagnostics are coloured: `choice` is --color's, `terminal` $TERM, `no_color` $NO_COLOR (no-color.org: any
/// value but the empty one asks for no colour).
bool wants_color(const std::string& choice, bool is_terminal, const std::string& terminal, const std::string& no_color);

/// Exit codes that are not failures. Interrupted: or what interrupt_exit_code() says.
enum class Exit { Success = 0, Interrupted = 130 };

struct Session {
  CommonOptions options;
  Reporter report;
  std::string executable = "/proc/self/exe";  // the tile-tune whose `worker` verb compiles and runs kernels
  double began = 0;                           // when the command did, by search::now_seconds()

  /// Whether the common options mean anything, for commands that do not use them, too: an unknown target is an error,
  /// one that is not here is not.
  Result<void> check_options() const;
  /// --threads, else the cores this process may use.
  int threads() const;
  /// Warns where kernels are to be timed with more threads than this process may use CPUs.
  void warn_of_threads() const;
  /// The one target to verify and time kernels on. Several, or one that is not here, are errors.
  Result<codegen::Target> target() const;
  /// All that --target names, at least one, as they are named; they need not be here.
  Result<std::vector<codegen::Target>> targets() const;
  /// The file that is written: --db, else $TILE_TUNE_DB, else the user's data folder.
  Result<std::filesystem::path> database() const;
  /// All files that are read, the one that is written first.
  Result<std::vector<std::filesystem::path>> databases() const;
};

Session make_session(const CommonOptions& options);

/// A parsed command, ready to run.
using Command = std::function<Result<Exit>(Session&)>;

}  // namespace tile_tune::cli
