// What is known of one candidate after it was tried: plain data that search, command line and database share by value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"

namespace tile_tune::search {

enum class Outcome {
  Ok,
  Duplicate,     // lowers to code already measured; not timed
  CompileError,  // the compiler refused it or died
  RunError,      // the kernel returned an error code
  Wrong,         // a result outside the tolerance, or a write outside its buffers
  Timeout,       // compiling or running exceeded its limit of wall-clock or processor time
  Crash,         // killed by a signal, or ended without an answer
  OutOfMemory,   // exceeded the memory limit
  NoSpace,       // the disk for temporary files is full: says nothing of the candidate, and is never stored
  Slow,          // several times slower than the best in screening; not timed further
};
const char* outcome_name(Outcome outcome);  // "ok", "duplicate", "compile-error", ...
std::optional<Outcome> parse_outcome(const std::string& name);

/// How the reason of a CompileError begins whose compiler did not refuse the schedule but ended in the middle.
inline constexpr const char* kCompilerDied = "the compiler died: ";

struct Measurement {
  Outcome outcome = Outcome::Ok;
  std::string reason;  // one sentence for anything but Ok
  std::string code_hash;
  double compile_ms = 0;
  double verify_error = 0;         // largest |got - reference| / tolerance; at most 1 when Ok
  std::vector<double> samples_ns;  // in order; each the mean of enough calls to last 200 us
  std::vector<double> log_ratios;  // one a round: log(default's time / its time)
  double median_ns = 0;
  double ratio = 0;  // speed relative to the default schedule (median over paired rounds); > 1 is faster
  double ratio_lo = 0, ratio_hi = 0;  // its 95 % bootstrap interval; finalists only, else 0
  double peak_fraction = 0;           // of the roofline: the larger of the next two, with its interval; finalists only
  double peak_fraction_lo = 0, peak_fraction_hi = 0;
  double flop_fraction = 0;       // median over rounds of FLOP rate / FMA-probe rate; 0 for integer programs
  double bandwidth_fraction = 0;  // median over rounds of byte rate / stream-probe rate (same mix and footprint); 0 for
                                  // programs that fit the last cache
  bool roof_unknown = false;      // the probes were disturbed twice, or left out: the fractions are 0
  bool hurried = false;           // they were left out, since time was short
  bool disturbed = false;         // the machine was busy while it was timed

  /// Which roof it meets first, the lower of the two: the one it is closer to.
  bool is_compute_bound() const { return flop_fraction >= bandwidth_fraction; }
};

struct Trial {
  int sequence = 0;    // 0, 1, ... in the session
  int generation = 0;  // 0: seeds
  std::string origin;  // "default", "model" (nearly the default), "prior", "random", "mutation", "crossover", "final"
  std::vector<std::string> parents;  // schedule_id of each
  codegen::Schedule schedule;
  Measurement measurement;
};

}  // namespace tile_tune::search
