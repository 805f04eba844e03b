#include "engine/records/predicted_records.h"

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "codegen/schedule/check.h"
#include "db/identity.h"

namespace tile_tune::engine {

namespace {

constexpr const char* kSchedules = "predicted";

std::optional<codegen::Schedule> first_fitting(const std::string& options, const Workload& workload,
                                               const codegen::Target& target) {
  const auto json = json_of_record(options);
  if (!json || !json->is_object() || !json->contains(kSchedules) || !(*json)[kSchedules].is_array())
    return std::nullopt;
  for (const auto& one : (*json)[kSchedules]) {
    if (!one.is_object() || !one.contains("schedule")) continue;
    auto schedule = codegen::schedule_from_json(nlohmann::json(one["schedule"]));
    if (schedule && codegen::check_for(target, workload.program, *schedule)) return std::move(*schedule);
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> store_predicted(const Workload& workload, const codegen::Target& target, uint64_t seed,
                                    const std::vector<search::Predicted>& best, const Session& session) {
  nlohmann::json schedules = nlohmann::json::array();
  for (const auto& [schedule, cycles] : best)
    schedules.push_back({{"schedule", codegen::to_json(schedule)}, {"cycles", cycles}});
  TILE_TUNE_TRY(path, session.database());
  TILE_TUNE_TRY(database, db::Database::open(path, db::Mode::ReadWrite));
  const db::SessionRow row{
      {}, seed, db::kPredictedStrategy, base::json_text({{kSchedules, std::move(schedules)}}), "{}", {}, 0};
  TILE_TUNE_TRY(id, database.begin_session(workload.row, target_row(target), tool_row(), row));
  TILE_TUNE_CHECK(database.finish_session(id, "done"));
  return id;
}

Result<std::optional<codegen::Schedule>> predicted_schedule(const Workload& workload, const codegen::Target& target,
                                                            std::vector<db::Database>& stack) {
  const std::string here = db::target_id(target_row(target)), tool = db::tool_id(tool_row());
  for (auto& database : stack) {
    TILE_TUNE_TRY(sessions, database.done_sessions(db::kPredictedStrategy, db::workload_id(workload.row)));
    for (const auto& one : sessions) {
      if (db::target_id(one.target) != here || db::tool_id(one.tool) != tool) continue;
      if (auto schedule = first_fitting(one.session.options_json, workload, target)) return schedule;
    }
  }
  return std::nullopt;
}

}  // namespace tile_tune::engine
