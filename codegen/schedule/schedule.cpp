#include "codegen/schedule/schedule.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/sha256.h"

namespace tile_tune::codegen {
namespace {

using nlohmann::json;

json stage_to_json(const StageSchedule& stage) {
  if (stage.inlined) return {{"inlined", true}};
  if (stage.epilogue_of >= 0) return {{"epilogue_of", stage.epilogue_of}};
  json packings = json::array();
  for (const auto& packing : stage.packings)
    packings.push_back({{"operand", packing.operand}, {"depth", packing.depth}, {"order", packing.order}});
  json result{{"tiles", stage.tiles},
              {"order", stage.order},
              {"parallel", stage.parallel},
              {"vector_loop", stage.vector_loop},
              {"lanes", stage.lanes},
              {"reduction_order", stage.reduction_order},
              {"reduction_block", stage.reduction_block},
              {"reduction_unroll", stage.reduction_unroll},
              {"packings", packings}};
  if (stage.dot_product) result["dot_product"] = true;
  for (const auto& [operand, loop, distance] : stage.prefetches)
    result["prefetches"].push_back({{"operand", operand}, {"loop", loop}, {"distance", distance}});
  if (stage.scan) result["scan"] = true;
  if (stage.compute_at)
    result["compute_at"] = {{"statement", stage.compute_at->statement}, {"depth", stage.compute_at->depth}};
  if (stage.parallel_reduction)
    result["parallel_reduction"] = {{"loop", stage.parallel_reduction->loop},
                                    {"pieces", stage.parallel_reduction->pieces}};
  return result;
}

// json's own conversion takes truth values and fractions for integers and does not look at the type's range.
template <typename Integer>
void read(const json& source, Integer& value) {
  using Limits = std::numeric_limits<Integer>;
  const bool fits = source.is_number_unsigned()
                        ? source.get<uint64_t>() <= uint64_t{Limits::max()}
                        : source.is_number_integer() && source.get<int64_t>() >= Limits::min() &&
                              source.get<int64_t>() <= Limits::max();
  if (!fits) throw json::out_of_range::create(406, "an integer was expected", &source);
  value = source.get<Integer>();
}

template <typename Item>
void read(const json& source, std::vector<Item>& items) {
  if (!source.is_array()) throw json::type_error::create(302, "an array was expected", &source);
  for (const auto& item : source) read(item, items.emplace_back());
}

StageSchedule stage_from_json(const json& source) {
  StageSchedule stage;
  if (source.value("inlined", false)) {
    stage.inlined = true;
    return stage;
  }
  if (source.contains("epilogue_of")) {
    read(source["epilogue_of"], stage.epilogue_of);
    return stage;
  }
  if (source.contains("compute_at")) {
    const json& place = source["compute_at"];
    stage.compute_at.emplace();
    read(place.at("statement"), stage.compute_at->statement);
    read(place.at("depth"), stage.compute_at->depth);
  }
  if (source.contains("parallel_reduction")) {
    const json& cut = source["parallel_reduction"];
    stage.parallel_reduction.emplace();
    read(cut.at("loop"), stage.parallel_reduction->loop);
    read(cut.at("pieces"), stage.parallel_reduction->pieces);
  }
  read(source.at("tiles"), stage.tiles);
  read(source.at("order"), stage.order);
  read(source.at("parallel"), stage.parallel);
  read(source.at("vector_loop"), stage.vector_loop);
  read(source.at("lanes"), stage.lanes);
  read(source.at("reduction_order"), stage.reduction_order);
  read(source.at("reduction_block"), stage.reduction_block);
  read(source.at("reduction_unroll"), stage.reduction_unroll);
  for (const auto& entry : source.at("packings")) {
    Packing& packing = stage.packings.emplace_back();
    read(entry.at("operand"), packing.operand);
    read(entry.at("depth"), packing.depth);
    read(entry.at("order"), packing.order);
  }
  for (const auto& entry : source.value("prefetches", json::array())) {
    Prefetch& prefetch = stage.prefetches.emplace_back();
    read(entry.at("operand"), prefetch.operand);
    read(entry.at("loop"), prefetch.loop);
    read(entry.at("distance"), prefetch.distance);
  }
  stage.dot_product = source.value("dot_product", false);
  stage.scan = source.value("scan", false);
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
  int version = 0;
  read(source.at("version"), version);
  if (version < 1 || version > Schedule::kVersion)
    return fail(ErrorClass::Program, "schedule-version",
                "this schedule has version " + std::to_string(version) + ", this tool reads versions up to " +
                    std::to_string(Schedule::kVersion));
  Schedule schedule;
  for (const auto& stage : source.at("stages")) schedule.stages.push_back(stage_from_json(stage));
  return schedule;
} catch (const json::exception& error) {
  return fail(ErrorClass::Program, "malformed-schedule", std::string("malformed schedule: ") + error.what());
}

std::string schedule_id(const Schedule& schedule) { return base::sha256_hex(to_json(schedule).dump()); }

}  // namespace tile_tune::codegen
