// What was tuned for exactly a workload and a target by this version.
#pragma once

#include <optional>
#include <vector>

#include "codegen/schedule/schedule.h"
#include "db/database.h"
#include "engine/records/workload.h"

namespace tile_tune::engine {

struct TunedRecord {
  codegen::Schedule schedule;
  double median_ns = 0;
};

/// The best of the stack that fits, if it has a time.
Result<std::optional<TunedRecord>> tuned_record(const Workload& workload, const codegen::Target& target,
                                                std::vector<db::Database>& stack);

}  // namespace tile_tune::engine
