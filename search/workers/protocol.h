// What the tuner and its workers say to each other: one JSON message a line, each with the protocol's version.
//
// A worker answers every request with one reply, in order, and is asked one thing at a time. Files named in
// messages are relative to the session's directory (Setup), which the tuner makes and removes; a problem is a
// directory in it (judge/problem.h). The same messages travel to other machines unchanged.
#pragma once

#include <filesystem>
#include <string>
#include <optional>
#include <variant>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "codegen/target/target.h"
#include "frontend/diagnostic/diagnostic.h"
#include "frontend/ir/program.h"
#include "search/judge/reply.h"
#include "search/timing/contests.h"

namespace tile_tune::search {

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
/// Random inputs of a program and what the reference makes of them (judge/problem.h), written as `problem`.
struct MakeProblem {
  std::string problem;
  ir::Program program;
  uint64_t seed = 0;
  std::optional<ir::Program> written = std::nullopt;  // as it was before its sums of products were put into steps
  double whole_seconds = 0;                           // of a core; a reference that takes longer is of a sample
};
/// Where a session's runtime is, in the session's directory.
inline constexpr const char* kRuntime = "runtime.o";

/// Halide's runtime as an object file, which every kernel needs.
struct BuildRuntime {
  std::string library;
};
struct Build {
  std::string problem;
  codegen::Schedule schedule;
  std::string library;
  double seconds = 0;  // instead of Limits::build_seconds; 0: that
};
/// With the schedule that one of the backend's own schedulers chooses.
struct BuildAutoscheduled {
  std::string problem, scheduler, library;
};
struct Verify {
  std::string problem, runtime, library;
  double hopeless_ns = 0;  // one call alone, which is not to take longer (judge/verify.h); 0: all calls
};
/// Executes once and writes each output, C-ordered, to the problem's directory (problem.h, read_outputs).
struct Run {
  std::string problem, runtime, library;
};
/// The worker ends and leaves the session's directory to the tuner; no reply. A stream that ends without it says that
/// the tuner died: then the worker removes the directory.
struct Quit {};
using Request = std::variant<Setup, MakeProblem, BuildRuntime, Build, BuildAutoscheduled, Verify, Run, Race, Finals,
                             SideBySide, Quit>;

/// One line, without its newline. Replies: judge/reply.h.
std::string encode(const Request& request);
/// A message of another version, or one that lacks a field: class Failure.
Result<Request> decode_request(const std::string& line);

}  // namespace tile_tune::search
