// Which schedule a program runs with: a given one, the best stored one, else the default.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/records.h"
#include "cli/session.h"
#include "codegen/schedule/schedule.h"

namespace tile_tune::cli {

struct ScheduleChoice {
  codegen::Schedule schedule;
  std::string provenance;  // "tuned", "default", "given"
  nlohmann::json record;   // what is known of it: where it was measured and how fast; for manifests
};

ScheduleChoice default_choice(const Workload& workload, const codegen::Target& target);

/// From a file in the form codegen::to_json gives a Schedule; checked against the program.
Result<ScheduleChoice> given_choice(const Workload& workload, const std::string& path);

/// The best stored schedule, if there is one. Records of another tool version or CPU are taken with a warning, too
/// (rulings 12). A database that does not exist or is empty has no schedules (rulings 17): a warning if --db names it.
Result<std::optional<ScheduleChoice>> tuned_choice(const Workload& workload, const codegen::Target& target,
                                                   const Session& session);

/// The same, else the default with a warning.
Result<ScheduleChoice> stored_choice(const Workload& workload, const codegen::Target& target, const Session& session);

}  // namespace tile_tune::cli
