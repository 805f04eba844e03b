#include "engine/bench/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/programs/bindings.h"
#include "engine/programs/memory.h"
#include "engine/programs/suite.h"
#include "engine/records/planned.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::engine {

namespace {

std::vector<std::string> named_constants(const ir::Program& bound) {
  std::vector<std::string> constants;
  for (const auto& tensor : bound.tensors)
    if (tensor.constant) constants.push_back(tensor.name);
  return constants;
}

/// Inputs that stay the same from call to call: those named constant, else a suite's weights. Devices have no packed
/// operands.
std::vector<std::string> constants_of(const LoadedProgram& loaded, const ir::Program& bound,
                                      const codegen::Target& target) {
  if (target.device == codegen::Device::Gpu) return {};
  const auto constants = named_constants(bound);
  return constants.empty() && loaded.suite ? loaded.suite->weights : constants;
}

ir::Program without_constants(ir::Program program) {
  for (auto& tensor : program.tensors) tensor.constant = false;
  return program;
}

/// Adds the default and the tuned schedule of the program with `constants`, and that of the file `given` if there is
/// one; returns their numbers. `in_steps`: the form of the program that they are put beside (engine/records/planned.h).
Result<std::set<int>> add_packed(const LoadedProgram& loaded, const ir::Program& plain,
                                 const std::vector<std::string>& constants, const ir::Sizes& sizes,
                                 const std::string& given, bool in_steps, const Bench& bench,
                                 std::vector<search::NamedSchedule>& schedules) {
  if (constants.empty()) return std::set<int>{};
  TILE_TUNE_TRY(packed, with_constants(plain, constants));
  Workload workload = planned_workload(loaded, packed, sizes, bench.session);
  if (!in_steps && workload.written) workload = Workload(*workload.written);
  std::set<int> numbers;
  for (size_t t = 0; t < workload.program.tensors.size(); ++t)
    if (workload.program.tensors[t].constant) numbers.insert(static_cast<int>(t));
  schedules.push_back({"default-packed", default_choice(workload, bench.target).schedule, true});
  TILE_TUNE_TRY(tuned, tuned_choice(workload, bench.target, bench.databases, bench.session));
  if (tuned) schedules.push_back({"tuned-packed", tuned->schedule, true});
  if (!given.empty()) {
    TILE_TUNE_TRY(choice, given_choice(workload, bench.target, given));
    schedules.push_back({"given-packed", choice.schedule, true});
  }
  return numbers;
}

}  // namespace

Result<std::vector<search::Baseline>> baselines_named(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const auto baseline : search::kBaselines) all.push_back(search::baseline_name(baseline));
  std::vector<search::Baseline> result;
  for (const auto baseline : search::kBaselines)
    if (names.empty() || std::find(names.begin(), names.end(), search::baseline_name(baseline)) != names.end())
      result.push_back(baseline);
  for (const auto& name : names)
    if (name != "none" && std::find(all.begin(), all.end(), name) == all.end())
      return fail(ErrorClass::Program, "unknown-baseline", fmt::format("there is no baseline '{}'", name),
                  fmt::format("there are {}, and none", fmt::join(all, ", ")));
  return result;
}

Result<BenchRow> measure(const LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes,
                         const Bench& bench) {
  TILE_TUNE_CHECK(check_size(bound, Use::Measure));
  const ir::Program plain = without_constants(bound);
  const Workload planned = planned_workload(loaded, plain, sizes, bench.session);
  TILE_TUNE_TRY(workload, faster_form(planned, bench.target, bench.databases));
  TILE_TUNE_CHECK(check_memory(workload.program, Use::Measure));
  tell_of_steps(workload, bench.session.report);
  std::vector<search::NamedSchedule> schedules{{"default", default_choice(workload, bench.target).schedule}};
  TILE_TUNE_TRY(tuned, tuned_choice(workload, bench.target, bench.databases, bench.session));
  BenchRow row;
  std::map<std::string, std::string> rungs;  // of stored schedules
  if (tuned) {
    schedules.push_back({"tuned", tuned->schedule});
    rungs["tuned"] = tuned->rung;
    row.record = tuned->record;
  }
  // A given schedule is one of the program with the constants that the command line names.
  const bool given_packed = !named_constants(bound).empty();
  if (!bench.schedule.empty() && !given_packed) {
    TILE_TUNE_TRY(given, given_choice(workload, bench.target, bench.schedule));
    schedules.push_back({"given", given.schedule});
  }
  TILE_TUNE_TRY(constants,
                add_packed(loaded, plain, constants_of(loaded, bound, bench.target), sizes,
                           given_packed ? bench.schedule : "", workload.written != nullptr, bench, schedules));
  row.name = loaded.suite ? loaded.suite->name : workload.row.name;
  row.group = loaded.suite ? loaded.suite->group : "";
  row.sizes = sizes_text(workload.row.sizes_json);
  row.layout = workload.row.layout;
  row.counted_flops = workload.row.flops;
  row.counted_bytes = workload.row.bytes;
  row.flops = loaded.suite ? loaded.suite->flops.value_or(workload.row.flops) : workload.row.flops;
  row.bytes = loaded.suite ? loaded.suite->bytes.value_or(workload.row.bytes) : workload.row.bytes;
  row.from_memory = workload.row.bytes > static_cast<double>(bench.target.l3_bytes);
  TILE_TUNE_TRY(result, bench.contest.run(workload.program, schedules, bench.against, constants, bench.autoschedulers));
  row.result = std::move(result);
  for (auto& entry : row.result.entries)
    if (const auto rung = rungs.find(entry.name); rung != rungs.end()) entry.note = rung->second;
  return row;
}

}  // namespace tile_tune::engine
