#include "engine/records/tuned_record.h"

#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "db/stack.h"

namespace tile_tune::engine {

Result<std::optional<TunedRecord>> tuned_record(const Workload& workload, const codegen::Target& target,
                                                std::vector<db::Database>& stack) {
  const auto schedule_of = [](const db::BestRow& best) {
    return codegen::schedule_from_json(nlohmann::json::parse(best.schedule_json, nullptr, false));
  };
  const auto fits = [&](const db::BestRow& best) -> Result<bool> {
    const auto schedule = schedule_of(best);
    return schedule && codegen::check_for(target, workload.program, *schedule);
  };
  TILE_TUNE_TRY(best, db::best_of(stack, workload.row, target_row(target), tool_row(), fits));
  if (!best || !best->same_target || !best->same_tool || best->median_ns <= 0) return std::nullopt;
  return TunedRecord{*schedule_of(*best), best->median_ns};
}

}  // namespace tile_tune::engine
