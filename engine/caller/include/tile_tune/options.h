// What all calls of the engine have in common. Part of the SDK: the standard library is all this header needs.
#pragma once

#include <functional>
#include <string>
#include <tile_tune/message.h>

namespace tile_tune::engine {

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

}  // namespace tile_tune::engine
