#include "codegen/schedule/schedule.h"

#include <nlohmann/json.hpp>

#include "frontend/ir/canonical.h"

namespace tile_tune::codegen {
namespace {

using nlohmann::json;

json stage_to_json(const StageSchedule& stage) {
  if (stage.inlined) return {{"inlined", true}};
  json packings = json::array();
  for (const auto& packing : stage.packings)
    packings.push_back({{"operand", packing.operand}, {"depth", packing.depth}, {"order", packing.order}});
  return {{"tiles", stage.tiles},
          {"order", stage.order},
          {"parallel", stage.parallel},
          {"vector_loop", stage.vector_loop},
          {"lanes", stage.lanes},
          {"reduction_order", stage.reduction_order},
          {"reduction_block", stage.reduction_block},
          {"reduction_unroll", stage.reduction_unroll},
          {"packings", packings}};
}

StageSchedule stage_from_json(const json& source) {
  StageSchedule stage;
  if (source.value("inlined", false)) {
    stage.inlined = true;
    return stage;
  }
  source.at("tiles").get_to(stage.tiles);
  source.at("order").get_to(stage.order);
  source.at("parallel").get_to(stage.parallel);
  source.at("vector_loop").get_to(stage.vector_loop);
  source.at("lanes").get_to(stage.lanes);
  source.at("reduction_order").get_to(stage.reduction_order);
  source.at("reduction_block").get_to(stage.reduction_block);
  source.at("reduction_unroll").get_to(stage.reduction_unroll);
  for (const auto& packing : source.at("packings"))
    stage.packings.push_back({packing.at("operand"), packing.at("depth"), packing.at("order")});
  return stage;
}

}  // namespace

json to_json(const Schedule& schedule) {
  json stages = json::array();
  for (const auto& stage : schedule.stages) stages.push_back(stage_to_json(stage));
  return {{"kind", "schedule"}, {"version", Schedule::kVersion}, {"stages", std::move(stages)}};
}

Result<Schedule> schedule_from_json(const json& source) try {
  if (!source.is_object() || source.value("kind", "") != "schedule")
    return fail(ErrorClass::Program, "not-a-schedule", "this JSON is not a schedule");
  if (const int version = source.at("version"); version != Schedule::kVersion)
    return fail(ErrorClass::Program, "schedule-version",
                "this schedule has version " + std::to_string(version) + ", this tool reads version " +
                    std::to_string(Schedule::kVersion));
  Schedule schedule;
  for (const auto& stage : source.at("stages")) schedule.stages.push_back(stage_from_json(stage));
  return schedule;
} catch (const json::exception& error) {
  return fail(ErrorClass::Program, "malformed-schedule", std::string("malformed schedule: ") + error.what());
}

std::string schedule_id(const Schedule& schedule) { return ir::sha256_hex(to_json(schedule).dump()); }

}  // namespace tile_tune::codegen
