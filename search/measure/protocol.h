// What the tuner and its workers say to each other: one JSON message a line, each with the protocol's version.
//
// A worker answers every request with one reply, in order, and is asked one thing at a time. Files named in
// messages are relative to the session's directory (Setup), which the tuner makes and removes; a problem is a
// directory in it (measure/problem.h). The same messages travel to other machines unchanged.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <optional>
#include <variant>
#include <vector>

#include "codegen/lower/autoscheduler.h"
#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/program.h"
#include "search/measure/trial.h"

namespace tile_tune::search {

inline constexpr int kProtocolVersion = 1;

/// What one candidate may cost.
struct Limits {
  double build_seconds = 30;         // CPU time
  double run_seconds = 10;           // one call of a kernel, wherever it is called
  int64_t memory_bytes = 4ll << 30;  // address space beyond the worker's own and the kernel's buffers
};

/// First message: target.threads is the number of threads kernels run on.
struct Setup {
  std::filesystem::path directory;
  codegen::Target target;
  Limits limits;
};
/// Random inputs of a program and what the reference makes of them (measure/problem.h), written as `problem`.
struct MakeProblem {
  std::string problem;
  ir::Program program;
  uint64_t seed = 0;
  std::optional<ir::Program> written = std::nullopt;  // as it was before its sums of products were put into steps
  double whole_seconds = 0;                           // of a core; a reference that takes longer is of a sample
};
/// Halide's runtime as a shared library, which every kernel needs.
struct BuildRuntime {
  std::string library;
};
struct Build {
  std::string problem;
  codegen::Schedule schedule;
  std::string library;
  double seconds = 0;  // instead of the limit of all; 0: that one
};
/// With the schedule that one of Halide's schedulers chooses.
struct BuildAutoscheduled {
  std::string problem;
  codegen::AutoScheduler scheduler = codegen::AutoScheduler::Mullapudi2016;
  std::string library;
};
struct Verify {
  std::string problem, runtime, library;
};
/// Executes once and writes each output, C-ordered, to the problem's directory (problem.h, read_outputs).
struct Run {
  std::string problem, runtime, library;
};
/// Screening, then rounds in random order with successive halving. libraries[0] is the default schedule's; the first
/// `exempt` libraries are never dropped.
struct Race {
  std::string problem, runtime;
  std::vector<std::string> libraries;
  int exempt = 1;
  uint64_t seed = 0;
  double seconds_per_kernel = 0.04;  // of rounds; 20-100 ms ranked near-equal kernels rightly (autotuners.md 2.2)
  double at_most = 0;                // seconds for all of it, whatever is done by then; 0: no limit
};
/// Rounds in random order with the roofline probes in each; libraries[0] is the default schedule's.
struct Finals {
  std::string problem, runtime;
  std::vector<std::string> libraries;
  uint64_t seed = 0;
  int rounds = 31;     // at least
  double seconds = 2;  // go on until these are spent
  double at_most = 0;  // seconds for all of it, whatever is done by then; 0: no limit
};
/// Rounds of kernels of different makers (side_by_side.h).
struct SideBySide {
  std::string problem, runtime;
  std::vector<std::string> libraries;
  int exempt = 1;  // so many of the first are timed however slow they are
  uint64_t seed = 0;
  int rounds = 31;          // at least
  double seconds = 1;       // go on until these are spent
  double slow_factor = 10;  // the others are left out if so many times slower than the fastest
};
/// The worker ends and leaves the session's directory to the tuner; no reply. A stream that ends without it says that
/// the tuner died: then the worker removes the directory.
struct Quit {};
using Request =
    std::variant<Setup, MakeProblem, BuildRuntime, Build, BuildAutoscheduled, Verify, Run, Race, Finals, SideBySide,
                 Quit>;

/// How one kernel of a Race, Finals or SideBySide fared.
struct Timing {
  Outcome outcome = Outcome::Ok;
  std::string reason;
  std::vector<double> samples_ns;                           // mean of each sample's calls
  std::vector<double> log_ratios;                           // one a round: log(default's time / its time)
  std::vector<double> flop_fractions, bandwidth_fractions;  // one a round of the finals
  int switched = 0;                                         // samples in which a thread had lost its core
  int left_out = 0;                                         // rounds not given above: the machine was busy in them
  std::string note = {};                                    // what a library said of itself
  bool hurried = false;                                     // of the finals: there was no time for the probes
};

struct Reply {
  Outcome outcome = Outcome::Ok;
  std::string reason;           // one sentence for anything but Ok
  std::string code_hash;        // Build
  double compile_ms = 0;        // Build: lowering, code generation and linking
  double verify_error = 0;      // Verify
  std::vector<Timing> timings;  // Race, Finals, SideBySide: one a library
  std::string note = {};        // MakeProblem: as Problem::note
  bool sampled = false;         // MakeProblem: as Problem::sampled
  std::optional<Diagnostic> error = std::nullopt;  // MakeProblem: why there is none

  static Reply fault(Outcome outcome, std::string reason) { return {outcome, std::move(reason), {}, 0, 0, {}}; }
};

/// One line, without its newline.
std::string encode(const Request& request);
std::string encode(const Reply& reply);
/// A message of another version, or one that lacks a field: class Failure.
Result<Request> decode_request(const std::string& line);
Result<Reply> decode_reply(const std::string& line);

}  // namespace tile_tune::search
