// Running and tuning programs from C++. Part of the SDK: the standard library is all this header needs.
//
// Both calls drive the installed `tile-tune worker`: generated code is compiled, judged and measured in processes of
// their own. Errors are ProgramError; its code() tells what is wrong.
#pragma once

#include <tile_tune/array.h>
#include <tile_tune/edsl.h>
#include <tile_tune/options.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tile_tune::engine {

struct RunOptions : Options {
  Schedule schedule = Schedule::Tuned;
};

/// Executes the program once and writes its outputs into the arrays of their names; a size that the program leaves
/// open comes from the inputs' shapes. An in/out output starts from its array's value. Arrays may have any strides; of
/// an output no two elements may lie in one place. Returns which schedule it ran with. The kernel is that of a handle
/// (tile_tune/kernel.h), made for these shapes and strides and called in this process; programs with gathers, devices
/// and the reference run in a process of their own, on copies.
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
