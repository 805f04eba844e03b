// What was tuned for exactly a workload and a target by this version.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "db/database.h"
#include "engine/records/workload.h"

namespace tile_tune::engine {

/// A stored schedule; nullopt unless it can be read and fits.
std::optional<codegen::Schedule> fitting_for(const std::string& schedule_json, const ir::Program& program,
                                             const codegen::Target& target);

struct TunedRecord {
  codegen::Schedule schedule;
  double median_ns = 0;
};

/// The best of the stack that fits, if it has a time.
Result<std::optional<TunedRecord>> tuned_record(const Workload& workload, const codegen::Target& target,
                                                std::vector<db::Database>& stack);

}  // namespace tile_tune::engine
