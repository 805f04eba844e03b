// Which schedule a program runs with: a given one, the best stored one, one adapted from a relative, else the default.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "db/database.h"
#include "engine/records/workload.h"
#include "engine/session/session.h"

namespace tile_tune::engine {

struct ScheduleChoice {
  codegen::Schedule schedule;
  std::string provenance;  // "tuned", "predicted", "steps", "nearest", "default", "given"
  /// The rung of the ladder it stands on: "exact" (tuned for this target by this version), "rechecked" (older or from
  /// elsewhere, rechecked here by `db recheck`), "stale" (not rechecked), "steps" (a network's, of products that were
  /// tuned alone; untimed as a whole), "curated" (shipped with tile-tune), "nearest" (adapted from a relative's,
  /// untimed), "predicted" (the best by the model alone, untimed), "default", or "given".
  std::string rung;
  nlohmann::json record;  // what is known of it: where it was measured and how fast; for manifests
};

/// Of a stored schedule.
std::string rung_of(const db::BestRow& best);
/// What manifests and --json say of it.
nlohmann::json record_json(const db::BestRow& best);
/// "1 thread", "2 threads"
std::string threads_text(int threads);
/// "matmul (M=512 N=3)"
std::string described(const Workload& workload);

/// "this target"; its name where the command line names several.
std::string target_text(const codegen::Target& target, const Session& session);

ScheduleChoice default_choice(const Workload& workload, const codegen::Target& target);

/// From a file in the form codegen::to_json gives a Schedule; checked against the program and the
/// target.
Result<ScheduleChoice> given_choice(const Workload& workload, const codegen::Target& target, const std::string& path);

/// What to do about a program that is not tuned: `advice`, unless nothing can be tuned for the target here.
std::string untuned_note(const codegen::Target& target, const std::string& advice);

/// The databases of the command line, for reading. One that does not exist or is empty has no schedules: a
/// warning if --db names it, with `note` unless that is empty. One under the first that a newer tile-tune wrote is left
/// out with a warning, too.
Result<std::vector<db::Database>> open_stack(const Session& session, const std::string& note = "");

/// The best stored schedule, if there is one. Records of another tool version or CPU are taken with a warning,
/// too.
Result<std::optional<ScheduleChoice>> tuned_choice(const Workload& workload, const codegen::Target& target,
                                                   std::vector<db::Database>& stack, const Session& session);

/// The same, else one that is shipped with tile-tune, else one tuned for more threads than the target has (which works
/// on fewer; what was tuned for fewer may leave cores idle), else one of steps that were tuned alone, else one adapted
/// from a relative (engine/records/transfer.h), else the default; says which with a notice or a warning.
Result<ScheduleChoice> stored_choice(const Workload& workload, const codegen::Target& target,
                                     std::vector<db::Database>& stack, const Session& session);

}  // namespace tile_tune::engine
