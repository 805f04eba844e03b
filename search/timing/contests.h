// What a worker is asked to time, against what, and how long.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "search/timing/statistics.h"

namespace tile_tune::search {

/// Screening, then rounds in random order with successive halving. libraries[0] is the default schedule's; the first
/// `exempt` libraries are never dropped.
struct Race {
  std::string problem, runtime;
  std::vector<std::string> libraries;
  int exempt = 1;
  uint64_t seed = 0;
  double seconds_per_kernel = 0.04;  // of rounds; 20-100 ms ranked near-equal kernels rightly
  double at_most = 0;                // seconds for all of it, whatever is done by then; 0: no limit
};
/// Rounds in random order with the roofline probes in each; libraries[0] is the default schedule's.
struct Finals {
  std::string problem, runtime;
  std::vector<std::string> libraries;
  uint64_t seed = 0;
  int rounds = kFewestRounds;       // at least
  double seconds = kFinalsSeconds;  // go on until these are spent
  double at_most = 0;               // seconds for all of it, whatever is done by then; 0: no limit
};
/// Rounds of kernels of different makers (side_by_side.h).
struct SideBySide {
  std::string problem, runtime;
  std::vector<std::string> libraries;
  int exempt = 1;  // so many of the first are timed however slow they are
  uint64_t seed = 0;
  int rounds = kFewestRounds;  // at least
  double seconds = 1;          // go on until these are spent
  double slow_factor = 10;     // the others are left out if so many times slower than the fastest
};
}  // namespace tile_tune::search
