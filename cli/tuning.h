// One tuning session from database to database: what is known, the search in worker processes, what was learned.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/records.h"
#include "cli/session.h"
#include "search/evolve/tune.h"
#include "search/measure/workers.h"

namespace tile_tune::cli {

/// Without trials and seconds: 60 s, or what the unfinished session that is resumed has left.
struct TuningRequest {
  std::optional<int> trials;
  std::optional<double> seconds;
  std::optional<uint64_t> seed;
  bool resume = false;
  search::OnWait on_wait;  // told when another process's turn on the machine has to be waited for; may be empty
};

struct Tuned {
  search::TuneReport report;
  uint64_t seed = 0;
  std::string session, database;
};

/// Seconds of the monotonic clock.
double now_seconds();

/// Candidates of a program too large to be checked in full are checked in full at small sizes. `program` is the
/// workload's with symbolic sizes, which `sizes` gave values.
search::SmallVariant small_variant_of(const ir::Program& program, const ir::Sizes& sizes,
                                      const codegen::Target& target);

/// Keeps every trial as soon as it is known. A set stop flag ends the search early; what is finished is kept. `began`:
/// when the budget began to run, by the surroundings' clock. A program of which not even the default schedule works is
/// an error of class Verification.
Result<Tuned> tune_workload(const Workload& workload, search::SmallVariant small_variant, const codegen::Target& target,
                            const TuningRequest& request, const Session& session,
                            const search::Surroundings& surroundings, double began);

}  // namespace tile_tune::cli
