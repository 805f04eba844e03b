// Running, tuning, building, timing and checking programs from C++: what the commands of these names do. Part of the
// SDK: the standard library is all this header needs; link tile_tune::engine.
//
// All calls drive the installed `tile-tune worker`: generated code is compiled, judged and measured in processes of
// their own. Errors are ProgramError; its code() tells what is wrong.
#pragma once

#include <tile_tune/array.h>
#include <tile_tune/edsl.h>
#include <tile_tune/options.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tile_tune::engine {

struct RunOptions : Options {
  Schedule schedule = Schedule::Tuned;
  bool deterministic = false;  // the same bits by every schedule, on any number of threads and any CPU
};

/// Executes the program once and writes its outputs into the arrays of their names; a size that the program leaves
/// open comes from the inputs' shapes. An in/out output starts from its array's value. Arrays may have any strides; of
/// an output no two elements may lie in one place. Returns which schedule it ran with. The kernel is that of a handle
/// (tile_tune/kernel.h), made for these shapes and strides and called in this process; programs with gathers, devices
/// and the reference run in a process of their own, on copies.
Schedule run(const edsl::Program& program, const Arrays& arrays, const RunOptions& options = {});

/// What the command line says of a program, in its words (docs/cli.md). What is recorded with some of them is found
/// with the same ones.
struct ProgramOptions : Options {
  std::vector<std::string> sizes = {};      // "N=64"; of tune() and build() also "N=1..512" and "N=64,128"
  std::vector<std::string> layouts = {};    // where elements lie: "col", "A=col", "B=4096,1", "C=any,1"
  std::vector<std::string> constants = {};  // inputs that stay the same from call to call: kernels take them packed
  std::string objective = {};               // "hot" or "cold" caches; empty: as the program has it
  bool deterministic = false;               // as in RunOptions
};

struct TuneProgress {
  int trials = 0;         // tried so far
  double seconds = 0;     // since the call
  double best_ratio = 0;  // speed of the best so far relative to the default schedule; 0: none yet
};

/// How candidates are chosen: by a learned cost model, by evolution alone, at random.
enum class Strategy { Model, Genetic, Random };

struct TuneOptions : ProgramOptions {
  std::optional<double> seconds;  // without seconds and trials: 60 s
  std::optional<int> trials;
  std::optional<uint64_t> seed;                            // repeats a search
  std::function<bool(const TuneProgress&)> progress = {};  // called after each batch; false ends the search
  Strategy strategy = Strategy::Model;
};

/// Sizes at which schedules were searched.
struct TunedPoint {
  std::map<std::string, int64_t> sizes;
  int trials = 0;
  double ratio = 0;  // as that of TuneResult
};

struct TuneResult {
  int trials = 0;
  double default_ns = 0, tuned_ns = 0;  // median time of a call, both measured together at the end; 0: not measured
  double ratio = 0;                     // speed relative to the default schedule; 1: the default is the best
  uint64_t seed = 0;
  std::string database;                 // where the trials and the winner are
  std::vector<TunedPoint> points = {};  // of ranges and lists of sizes; there is no time and no ratio of all
};

/// Searches schedules, verifies and measures each on this machine and keeps them in the database, where run() and the
/// command line find the best. All sizes must have numbers (Program::bind, or `sizes`).
TuneResult tune(const edsl::Program& program, const TuneOptions& options = {});

struct BuildOptions : ProgramOptions {
  std::string directory;      // where the package is written; needed
  std::string name = {};      // the library's, of one program also the function's; empty: the program's
  std::string schedule = {};  // a file with the schedule of a single program; empty: the best stored ones
  bool recheck = false;       // what was tuned elsewhere is verified and timed here first
  bool checked = false;       // entries look whether indices from arrays are inside their tensors
};

struct BuiltKernel {
  std::string function;
  std::string target;  // Halide's name of it
  std::string rung;    // where its schedule is from: "exact", "default", ... (docs/cli.md)
};

struct BuildResult {
  std::string name;
  std::vector<BuiltKernel> kernels;
  std::vector<std::string> files;  // paths
};

/// Writes a static library with a header, and what build systems need, of programs with their best stored schedules
/// (docs/libraries.md). Kernels are verified first, where they run here.
BuildResult build(const std::vector<edsl::Program>& programs, const BuildOptions& options);

struct BenchOptions : ProgramOptions {
  std::vector<std::string> against = {};  // "onednn", "openblas", ...; empty: all there are; "none"
  std::string schedule = {};              // a file with one more schedule
  int rounds = 31;                        // at least
  double seconds = 1;                     // go on with rounds for so long
  uint64_t seed = 0;                      // of inputs and the order of rounds
};

struct BenchEntry {
  std::string name;          // "default", "tuned", "given", with constants also "default-packed", ...; or a library's
  std::string reason;        // why it has no time; else empty
  double median_ns = 0;      // of a call
  double ratio = 0;          // speed relative to the default schedule, each round with its own; 0: no time
  double low = 0, high = 0;  // its 95 % interval
};

struct BenchResult {
  std::vector<BenchEntry> entries;
  double flops = 0, bytes = 0;  // of a call
};

/// Times the default and the stored schedule beside libraries, in turns. Nothing is stored.
BenchResult bench(const edsl::Program& program, const BenchOptions& options = {});

struct CheckedOutput {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> shape;  // empty also where sizes are open
  bool is_in_out = false;      // starts from the caller's values
};

struct CheckResult {
  std::string signature;
  std::vector<std::string> statements;
  std::vector<CheckedOutput> outputs;
  bool has_sizes = false;  // all; only then there are the next ones
  double flops = 0, bytes_read = 0, bytes_written = 0;
  std::string steps;                    // how its sums of products are factored, in words; empty: they are not
  std::vector<std::string> unfactored;  // sums that remain far from their best steps, and why
};

/// What was understood of a program, and how much work it is; warnings go to on_message. Starts nothing.
CheckResult check(const edsl::Program& program, const ProgramOptions& options = {});

}  // namespace tile_tune::engine
