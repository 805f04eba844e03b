// Programs in processes of their own, without a shell.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "base/process/streams.h"
#include "base/process/wait.h"

namespace tile_tune::base {

struct Command {
  std::vector<std::string> words = {};   // the first is looked up on PATH, unless it has a slash
  std::filesystem::path directory = {};  // to run in; empty: ours
  bool in_english = false;               // messages do not depend on the user's locale
  bool own_group = false;                // leads a process group, which keeps the terminal's Ctrl-C away from it
  bool default_signals = false;          // blocks none, and does not ignore what this process ignores
};

/// The process, or an errno.
tl::expected<pid_t, int> spawn(const Command& command, const Streams& streams);

/// What became of a command that has ended.
struct Finished {
  pid_t process = 0;
  Ending ending;
  std::string out, err;  // what it wrote
};

/// Runs a command to its end with `input` as its standard input; or an errno, if it cannot be started or is lost. When
/// it is told to stop meanwhile, it and its process group are killed: then own_group must be set.
tl::expected<Finished, int> run(const Command& command, const std::string& input = "", const StopAsked& stop = {});

}  // namespace tile_tune::base
