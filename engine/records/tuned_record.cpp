#include "engine/records/tuned_record.h"

#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "db/stack.h"

namespace tile_tune::engine {

std::optional<codegen::Schedule> fitting_for(const std::string& schedule_json, const ir::Program& program,
                                             const codegen::Target& target) {
  auto schedule = codegen::schedule_from_json(nlohmann::json::parse(schedule_json, nullptr, false));
  if (!schedule || !codegen::check_for(target, program, *schedule)) return std::nullopt;
  return std::move(*schedule);
}

Result<std::optional<TunedRecord>> tuned_record(const Workload& workload, const codegen::Target& target,
                                                std::vector<db::Database>& stack) {
  const auto fits = [&](const db::BestRow& best) -> Result<bool> {
    return fitting_for(best.schedule_json, workload.program, target).has_value();
  };
  TILE_TUNE_TRY(best, db::best_of(stack, workload.row, target_row(target), tool_row(), fits));
  if (!best || !best->same_target || !best->same_tool || best->median_ns <= 0) return std::nullopt;
  return TunedRecord{*fitting_for(best->schedule_json, workload.program, target), best->median_ns};
}

}  // namespace tile_tune::engine
