#include "engine/records/t4.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "codegen/target/host.h"
#include "db/identity.h"
#include "engine/records/workload.h"

namespace tile_tune::engine {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kMsPerNs = 1e-6;

/// One program on one target by one version, with its trials from all databases.
struct Problem {
  db::ProgramRow program;
  db::TargetRow target;
  db::ToolRow tool;
  std::vector<db::StoredTrial> trials;
};

/// A stored time may be any number.
std::string time_text(int64_t ms) {
  constexpr int64_t kEndOf9999 = 253'402'300'799'999;
  ms = std::clamp<int64_t>(ms, 0, kEndOf9999);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(static_cast<std::time_t>(ms / 1000)), ms % 1000);
}

/// T4's six words for what became of a configuration.
const char* invalidity(search::Outcome outcome) {
  using search::Outcome;
  switch (outcome) {
    case Outcome::Ok:
    case Outcome::Slow:
    case Outcome::Duplicate:
      return "correct";
    case Outcome::CompileError:
      return "compile";
    case Outcome::Wrong:
      return "correctness";
    case Outcome::Timeout:
      return "timeout";
    default:
      return "runtime";
  }
}

Json configuration(const std::string& schedule_json) {
  Json result = Json::object();
  const auto schedule = json_of_record(schedule_json);
  if (!schedule || !schedule->is_object() || !schedule->contains("stages")) return result;
  Json parts{{"stages", schedule->at("stages")}};
  if (schedule->contains("collapsed")) parts["collapsed"] = schedule->at("collapsed");
  const Json flat = parts.flatten();
  for (const auto& [path, value] : flat.items())
    if (!value.is_null()) result[path] = value;  // empty lists
  return result;
}

Json measurement(const char* name, Json value, const char* unit) {
  return {{"name", name}, {"value", std::move(value)}, {"unit", unit}};
}

Json result_json(const db::TrialRow& trial) {
  const auto outcome = search::parse_outcome(trial.outcome);
  const std::string invalid = outcome ? invalidity(*outcome) : "runtime";
  Json runtimes = Json::array();
  for (const double sample : trial.samples_ns) runtimes.push_back(sample * kMsPerNs);
  Json measurements = Json::array();
  // Readers take the objective from here, of what failed, too: it is then the reason's word.
  const bool timed = trial.median_ns > 0;
  const std::string why = outcome == search::Outcome::Ok ? "not-timed" : trial.outcome;
  measurements.push_back(measurement("time", timed ? Json(trial.median_ns * kMsPerNs) : Json(why), timed ? "ms" : ""));
  if (trial.ratio > 0) measurements.push_back(measurement("speedup_over_default", trial.ratio, ""));
  if (trial.peak_fraction > 0) measurements.push_back(measurement("fraction_of_roofline", trial.peak_fraction, ""));
  Json times{{"compilation_time", trial.compile_ms > 0 ? trial.compile_ms : 0}, {"runtimes", std::move(runtimes)}};
  return {{"timestamp", time_text(trial.created_ms)},
          {"configuration", configuration(trial.schedule_json)},
          {"objectives", Json::array({"time"})},
          {"times", std::move(times)},
          {"invalidity", invalid},
          {"correctness", invalid == "correct" ? 1 : 0},
          {"measurements", std::move(measurements)}};
}

Result<std::vector<Problem>> problems_called(std::vector<OpenDatabase>& databases, const std::string& name) {
  std::map<std::string, Problem> found;
  std::set<std::string> seen;  // trials that several databases hold
  for (auto& [path, database] : databases) {
    std::set<std::string> wanted;
    if (!name.empty()) {
      const auto shown = database.show(name);
      if (!shown && shown.error().code != "no-such-record") return tl::unexpected(shown.error());
      if (shown)
        for (const auto& row : *shown)
          wanted.insert(db::workload_id(row.summary.program) + db::target_id(row.summary.target));
    }
    TILE_TUNE_TRY(recorded, database.recorded());
    for (auto& row : recorded) {
      const std::string place = db::workload_id(row.program) + db::target_id(row.target);
      if (!name.empty() && !wanted.contains(place)) continue;
      TILE_TUNE_TRY(trials, database.trials_of(row.program, row.target, row.tool));
      Problem& problem =
          found.try_emplace(place + db::tool_id(row.tool), Problem{row.program, row.target, row.tool, {}})
              .first->second;
      for (auto& trial : trials)
        if (seen.insert(trial.id).second) problem.trials.push_back(std::move(trial));
    }
  }
  std::vector<Problem> problems;
  for (auto& [key, problem] : found) problems.push_back(std::move(problem));
  return problems;
}

/// One tool's trials make one file: of several versions that of the latest trial.
Result<Problem> only_problem(std::vector<Problem> problems, const std::string& name) {
  if (problems.empty())
    return failure("no-such-record",
                   name.empty() ? std::string("the tuning database holds no tuned program")
                                : fmt::format("nothing in the tuning database is called {}", name),
                   "`tile-tune db list` prints names and ids");
  std::set<std::string> places;
  for (const auto& one : problems)
    places.insert(fmt::format("{} ({}, {})", one.program.name, sizes_text(one.program.sizes_json),
                              base::format_number(static_cast<size_t>(one.target.machine.threads), "thread")));
  std::set<std::string> keys;
  for (const auto& one : problems) keys.insert(db::workload_id(one.program) + db::target_id(one.target));
  if (keys.size() > 1)
    return failure(
        "several-programs",
        fmt::format("T4 holds one program on one target, and there are {}: {}", keys.size(), fmt::join(places, ", ")),
        "name one by the first digits of its id in `tile-tune db list`");
  const auto latest = [](const Problem& one) {
    int64_t time = 0;
    for (const auto& trial : one.trials) time = std::max(time, trial.trial.created_ms);
    return time;
  };
  return *std::max_element(problems.begin(), problems.end(),
                           [&](const Problem& a, const Problem& b) { return latest(a) < latest(b); });
}

}  // namespace

Result<nlohmann::ordered_json> t4_json(std::vector<OpenDatabase>& databases, const std::string& name) {
  TILE_TUNE_TRY(problems, problems_called(databases, name));
  TILE_TUNE_TRY(problem, only_problem(std::move(problems), name));
  const auto& [program, target, tool, trials] = problem;
  const codegen::Target& machine = target.machine;
  const Json sizes = json_of_record(program.sizes_json).value_or(Json(program.sizes_json));
  Json results = Json::array();
  for (const auto& stored : trials) results.push_back(result_json(stored.trial));
  return Json{{"schema_version", "1.0.0"},
              {"metadata",
               {{"platform", target.text()},
                {"device", machine.cpu_model.empty() ? target.text() : machine.cpu_model},
                {"autotuner", "tile-tune"},
                {"autotuner_version", tool.tile_tune},
                {"timestamp", trials.empty() ? "" : time_text(trials.front().trial.created_ms)},
                {"timeunit", "milliseconds"},
                {"halide_version", tool.halide},
                {"llvm_version", tool.llvm},
                {"threads", machine.threads},
                {"program", program.name},
                {"source", program.source},
                {"sizes", sizes},
                {"dtypes", program.dtypes},
                {"layout", program.layout},
                {"content_hash", program.content_hash}}},
              {"results", std::move(results)}};
}

}  // namespace tile_tune::engine
