#include "codegen/schedule/schedule.h"

#include <algorithm>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>

#include "base/sha256.h"
#include "codegen/schedule/decisions.h"

namespace tile_tune::codegen {
namespace {

using nlohmann::json;

template <typename Value>
json written(const Value& value) {
  if constexpr (HasFields<Value>) {
    json parts;
    for_each_field<Value>([&](const auto& field) { parts[field.name] = written(value.*field.value); });
    return parts;
  } else {
    return value;
  }
}

template <typename Item>
json written(const std::vector<Item>& items) {
  json array = json::array();
  for (const auto& item : items) array.push_back(written(item));
  return array;
}

template <typename Value>
json written(const std::optional<Value>& value) {
  return value ? written(*value) : json();
}

json stage_to_json(const StageSchedule& stage) {
  if (stage.is_inlined()) return {{"inlined", true}};
  if (const auto* epilogue = stage.epilogue()) return {{"epilogue_of", epilogue->of}};
  json result;
  for_each_decision_of(stage.nest(), [&](const auto& decision) {
    if (!decision.traits.optional || !decision.has_default(stage.nest()))
      result[decision.name] = written(decision.in(stage.nest()));
  });
  return result;
}

// json's own conversion takes truth values and fractions for integers and does not look at the type's range.
template <std::integral Integer>
void read(const json& source, Integer& value) {
  using Limits = std::numeric_limits<Integer>;
  const bool fits = source.is_number_unsigned()
                        ? source.get<uint64_t>() <= uint64_t{Limits::max()}
                        : source.is_number_integer() && source.get<int64_t>() >= Limits::min() &&
                              source.get<int64_t>() <= Limits::max();
  if (!fits) throw json::out_of_range::create(406, "an integer was expected", &source);
  value = source.get<Integer>();
}

void read(const json& source, bool& value) { value = source.get<bool>(); }

template <HasFields Part>
void read(const json& source, Part& part);

template <typename Item>
void read(const json& source, std::vector<Item>& items) {
  if (!source.is_array()) throw json::type_error::create(302, "an array was expected", &source);
  for (const auto& item : source) read(item, items.emplace_back());
}

template <typename Value>
void read(const json& source, std::optional<Value>& value) {
  read(source, value.emplace());
}

json::other_error malformed(const std::string& what) { return json::other_error::create(501, what, nullptr); }

/// What a library's exception says, without its number.
std::string words_of(const json::exception& error) {
  const std::string what = error.what();
  const auto number = what.find("] ");
  return what.starts_with("[json.exception.") && number != std::string::npos ? what.substr(number + 2) : what;
}

/// read(), where `place` stands before what is wrong.
template <typename Read>
void read_at(const std::string& place, Read read) try {
  read();
} catch (const json::exception& error) {
  throw malformed(place + ": " + words_of(error));
}

template <typename Value>
void read_member(const json& source, const char* name, Value& value) {
  if (!source.contains(name)) throw malformed(std::string(name) + " is missing");
  read_at(name, [&] { read(source[name], value); });
}

void refuse_others(const json& source, const std::set<std::string>& known) {
  if (!source.is_object()) throw malformed("an object was expected");
  for (const auto& [name, value] : source.items())
    if (!known.contains(name)) throw malformed("there is no field " + name + " here");
}

template <HasFields Part>
void read(const json& source, Part& part) {
  std::set<std::string> names;
  for_each_field<Part>([&](const auto& field) { names.insert(field.name); });
  refuse_others(source, names);
  for_each_field<Part>([&](const auto& field) { read_member(source, field.name, part.*field.value); });
}

StageSchedule stage_from_json(const json& source) {
  bool inlined = false;
  if (source.is_object() && source.contains("inlined")) read_member(source, "inlined", inlined);
  if (inlined) {
    refuse_others(source, {"inlined"});
    return Inlined();
  }
  if (source.is_object() && source.contains("epilogue_of")) {
    refuse_others(source, {"epilogue_of"});
    Epilogue epilogue;
    read_member(source, "epilogue_of", epilogue.of);
    return epilogue;
  }
  NestSchedule nest;
  if (source.is_object() && source.contains("gpu_lanes")) nest.mapping = GpuMapping();
  std::set<std::string> names{"inlined"};
  for_each_decision_of(nest, [&](const auto& decision) { names.insert(decision.name); });
  refuse_others(source, names);
  for_each_decision_of(nest, [&](const auto& decision) {
    if (!decision.traits.optional || source.contains(decision.name))
      read_member(source, decision.name, decision.in(nest));
  });
  return nest;
}

}  // namespace

json to_json(const Schedule& schedule) {
  json stages = json::array();
  for (const auto& stage : schedule.stages) stages.push_back(stage_to_json(stage));
  json result{{"kind", "schedule"}, {"version", Schedule::kVersion}, {"stages", std::move(stages)}};
  if (schedule.collapsed) {
    result["version"] = Schedule::kCollapsedVersion;
    result["collapsed"] = true;
  }
  return result;
}

Result<Schedule> schedule_from_json(const json& source) try {
  if (!source.is_object() || source.value("kind", "") != "schedule")
    return fail(ErrorClass::Program, "not-a-schedule", "this JSON is not a schedule");
  int version = 0;
  read(source.at("version"), version);
  if (version < 1 || version > Schedule::kCollapsedVersion)
    return fail(ErrorClass::Program, "schedule-version",
                "this schedule has version " + std::to_string(version) + ", this tool reads versions up to " +
                    std::to_string(Schedule::kCollapsedVersion));
  Schedule schedule;
  if (source.contains("collapsed")) read_member(source, "collapsed", schedule.collapsed);
  if (schedule.collapsed != (version == Schedule::kCollapsedVersion))
    throw malformed("collapsed schedules, and they alone, have version " + std::to_string(Schedule::kCollapsedVersion));
  if (!source.at("stages").is_array()) throw malformed("stages: an array was expected");
  for (const auto& stage : source["stages"])
    read_at("stage " + std::to_string(schedule.stages.size()),
            [&] { schedule.stages.push_back(stage_from_json(stage)); });
  return schedule;
} catch (const json::exception& error) {
  return fail(ErrorClass::Program, "malformed-schedule", "malformed schedule: " + words_of(error));
}

bool has_guests(const Schedule& schedule, int statement) {
  return std::any_of(schedule.stages.begin(), schedule.stages.end(), [&](const StageSchedule& other) {
    return other.compute_at() && other.compute_at()->statement == statement;
  });
}

std::string schedule_id(const Schedule& schedule) { return base::sha256_hex(to_json(schedule).dump()); }

}  // namespace tile_tune::codegen
