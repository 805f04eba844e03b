// This executable once more, as a child: text in, text out.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::cli {

struct ChildOutput {
  pid_t process = 0;      // its number while it ran
  std::string text;       // its standard output
  std::string complaint;  // the last line of its standard error
  int exit_code = 0;
  int signal = 0;  // that ended it; 0 if it exited
};

/// The path of this executable.
Result<std::string> own_executable();

/// Runs `tile-tune ARGUMENTS...` with `input` as its standard input and waits for it. It does not get this terminal's
/// Ctrl-C: what it has begun it finishes, unless `stop` is given and set, which kills it and what it started.
Result<ChildOutput> run_self(const std::vector<std::string>& arguments, const std::string& input,
                             const std::atomic<bool>* stop = nullptr);

}  // namespace tile_tune::cli
