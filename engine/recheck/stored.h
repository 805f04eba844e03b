// Does all that is stored still hold, by the bytes of the files and by what kernels do here?
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "engine/session/session.h"
#include "search/judge/trial.h"
#include "search/workers/onlooker.h"

namespace tile_tune::engine {

/// A stored schedule, before and now.
struct RecheckedSchedule {
  db::ProgramRow program;
  std::string rung;     // before
  std::string verdict;  // "holds", "rechecked", "slower", "beaten", "wrong", ... or why it was not checked
  std::string reason;
  search::Measurement measurement;
};

struct Findings {
  std::vector<std::string> damaged;
  std::vector<RecheckedSchedule> lines;
  size_t records = 0;                // looked at
  size_t programs = 0, checked = 0;  // that there are for this target, and those looked at
  size_t elsewhere = 0;              // programs on other targets: rows of `db list`
  bool wrong = false, broken = false;
  std::optional<Diagnostic> unchecked = std::nullopt;  // the first that kept a program from being run
};

/// Databases to be verified: the first for writing where that is possible, so that the outcome can be stored.
struct RecheckedStack {
  std::vector<db::Database> databases;
  bool writable = false;
};

/// Those of the session, whose pages and indexes are sound; else an error.
Result<RecheckedStack> open_for_recheck(const Session& session, const search::Onlooker& onlooker);

/// Reads every record. Ends early, with what was found so far, once `stop` is set.
Result<void> recheck_digests(RecheckedStack& stack, const std::atomic<bool>& stop, const search::Onlooker& onlooker,
                             Findings& findings);

/// Rebuilds, verifies and times every schedule that was chosen for the target, of programs of this name (empty: of
/// all). `begins` is told of each program before it is looked at: its place, of how many, which. Ends early once `stop`
/// is set.
using Begins = std::function<void(size_t place, size_t count, const db::ProgramRow& program)>;
Result<void> recheck_schedules(RecheckedStack& stack, const std::string& name, const codegen::Target& target,
                               const Session& session, const std::atomic<bool>& stop, const Begins& begins,
                               Findings& findings);

/// What the findings mean: an error, the worst of them, unless all holds.
Result<void> verdict_on(const Findings& findings);

}  // namespace tile_tune::engine
