// One tuning session from database to database: what is known, the search in worker processes, what was learned.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/records.h"
#include "cli/session.h"
#include "search/evolve/tune.h"
#include "search/workers/workers.h"

namespace tile_tune::cli {

/// Without trials and seconds: 60 s, or what the unfinished session that is resumed has left.
struct TuningRequest {
  std::optional<int> trials;
  std::optional<double> seconds;
  std::optional<uint64_t> seed;
  bool resume = false;
  bool may_begin = false;                               // resuming: that there is nothing to resume is not worth a word
  search::Strategy strategy = search::Strategy::Model;  // of a new session; a resumed one keeps its own
  std::vector<codegen::Schedule> seeds = {};            // tried first; they fit the program
};

struct Tuned {
  search::TuneReport report;
  uint64_t seed = 0;
  std::string session, database;
  std::vector<std::string> bundles;  // folders that make failures of this session happen again (cli/quarantine.h)
  std::optional<double> written_ns = std::nullopt;  // of the form as written, where it was searched, too
};

using search::now_seconds;

/// Candidates of a program too large to be checked in full are checked in full at small sizes, whichever form of the
/// workload they are of. `program` is the workload's with symbolic sizes, which `sizes` gave values.
search::SmallVariant small_variant_of(const ir::Program& program, const ir::Sizes& sizes, const Workload& workload,
                                      const codegen::Target& target);

/// What the search will stop at.
search::Budget wanted_budget(const TuningRequest& request);

/// Whether the database that is written has a finished search of this workload, and no unfinished one.
Result<bool> is_finished(const Workload& workload, const codegen::Target& target, const Session& session);

struct Watch {
  double began;                   // when the budget began to run, by now_seconds()
  const std::atomic<bool>& stop;  // set from outside: the search ends early, what is finished is kept
  search::ProgressCallback progress = {};
  search::Onlooker onlooker = {};
  search::Deadline last = {};  // nothing goes on beyond it, not even the default schedule's trial
};

/// What the default schedule may take beyond a budget of so many seconds: without its trial there is nothing to tell.
/// All has ended 3 s after the budget, or a tenth of it, at the latest; of less than ten seconds 8 s.
double overtime(double seconds);

/// What a tuning ends with whose time was over before its default schedule was measured: that schedule stands.
search::TuneReport unmeasured_default(const codegen::Schedule& schedule);

/// Keeps every trial as soon as it is known. A program of which not even the default schedule works is an error of
/// class Verification. Where products are in steps, the form as written is searched afterwards: its share of the budget
/// is that of its promise, the FLOP of the steps in those of both.
Result<Tuned> tune_workload(const Workload& workload, search::SmallVariant small_variant, const codegen::Target& target,
                            const TuningRequest& request, const Session& session, const Watch& watch);

}  // namespace tile_tune::cli
