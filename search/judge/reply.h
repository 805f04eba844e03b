// What became of a piece of work: what a worker answers its tuner, and a child its worker.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "search/judge/trial.h"

namespace tile_tune::search {

/// How one kernel of a contest (timing/contests.h) fared.
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
  double launch_ns = 0;  // what the host took to hand a call to a device, at least; no part of samples_ns
};

struct Reply {
  Outcome outcome = Outcome::Ok;
  std::string reason;                              // one sentence for anything but Ok
  std::string code_hash;                           // Build
  double compile_ms = 0;                           // Build: lowering and code generation
  double verify_error = 0;                         // Verify
  std::vector<Timing> timings;                     // Race, Finals, SideBySide: one a library
  std::string note = {};                           // MakeProblem: as Problem::note; of timings: Executor::condition()
  bool sampled = false;                            // MakeProblem: as Problem::sampled
  std::optional<Diagnostic> error = std::nullopt;  // MakeProblem: why there is none

  static Reply fault(Outcome outcome, std::string reason) { return {outcome, std::move(reason), {}, 0, 0, {}}; }
};

/// One line of JSON, without its newline.
std::string encode(const Reply& reply);
/// A message of another version, or one that lacks a field: class Failure.
Result<Reply> decode_reply(const std::string& line);

}  // namespace tile_tune::search
