#include "cli/schedule_choice.h"

#include <fmt/format.h>

#include <optional>

#include "codegen/schedule/check.h"
#include "db/database.h"
#include "search/space/space.h"

namespace tile_tune::cli {

namespace {

std::string described(const Workload& workload) {
  const std::string sizes = sizes_text(workload.row.sizes_json);
  return sizes.empty() ? workload.row.name : fmt::format("{} ({})", workload.row.name, sizes);
}

nlohmann::json record_json(const db::BestRow& best) {
  return {{"trial", best.trial_id},
          {"schedule_id", best.schedule_id},
          {"median_ns", best.median_ns},
          {"ratio_to_default", best.ratio},
          {"ratio_interval", {best.ratio_lo, best.ratio_hi}},
          {"peak_fraction", best.peak_fraction},
          {"stale", !(best.same_target && best.same_tool)},
          {"tool", {{"tile_tune", best.tool.tile_tune}, {"halide", best.tool.halide}, {"llvm", best.tool.llvm}}}};
}

/// The stored schedule if it fits; a record that does not is worth a warning, not a failure.
std::optional<ScheduleChoice> usable(const db::BestRow& best, const Workload& workload, const Reporter& report) {
  auto schedule = codegen::schedule_from_json(nlohmann::json::parse(best.schedule_json, nullptr, false));
  if (!schedule || !codegen::check(workload.program, *schedule)) {
    report.warn("stale-record", fmt::format("the stored schedule of {} does not fit this version", described(workload)),
                "tune it again");
    return std::nullopt;
  }
  if (!best.same_target || !best.same_tool)
    report.warn("stale-record",
                fmt::format("the schedule of {} was tuned {}", described(workload),
                            best.same_target ? "by another version of the tool" : "on another CPU"),
                "tune it again to be sure that it is still the best");
  return ScheduleChoice{std::move(*schedule), "tuned", record_json(best)};
}

}  // namespace

ScheduleChoice default_choice(const Workload& workload, const codegen::Target& target) {
  return {search::Space(workload.program, target).default_schedule(), "default", {{"untimed", true}}};
}

Result<ScheduleChoice> given_choice(const Workload& workload, const std::string& path) {
  TILE_TUNE_TRY(text, read_text(path));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(ErrorClass::Program, "bad-json", fmt::format("{} is not JSON", path));
  const auto in_file = [&](Diagnostic diagnostic) {
    diagnostic.message = path + ": " + diagnostic.message;
    return tl::unexpected(std::move(diagnostic));
  };
  auto schedule = codegen::schedule_from_json(json);
  if (!schedule) return in_file(std::move(schedule.error()));
  if (auto fits = codegen::check(workload.program, *schedule); !fits) return in_file(std::move(fits.error()));
  return ScheduleChoice{std::move(*schedule), "given", {{"untimed", true}}};
}

Result<std::optional<ScheduleChoice>> tuned_choice(const Workload& workload, const codegen::Target& target,
                                                   const Session& session) {
  TILE_TUNE_TRY(paths, session.databases());
  const auto target_key = target_row(target);
  const auto tool = tool_row();
  for (const auto& path : paths) {
    auto database = db::Database::open(path, db::Mode::ReadOnly);
    if (!database && database.error().code == "no-database") {
      // The default file is missing until something is tuned; one that --db names may be a slip.
      Diagnostic& missing = database.error();
      missing.severity = Severity::Warning;
      if (!session.options.databases.empty()) session.report.diagnostic(missing);
      continue;
    }
    if (!database) return tl::unexpected(std::move(database.error()));
    TILE_TUNE_TRY(best, database->best(workload.row, target_key, tool));
    if (!best) continue;
    if (auto choice = usable(*best, workload, session.report)) return choice;
  }
  return std::nullopt;
}

Result<ScheduleChoice> stored_choice(const Workload& workload, const codegen::Target& target, const Session& session) {
  TILE_TUNE_TRY(choice, tuned_choice(workload, target, session));
  if (choice) return std::move(*choice);
  session.report.warn(
      "untuned", fmt::format("{} is not tuned for this target: the default schedule is taken", described(workload)),
      "tile-tune tune finds a faster one");
  return default_choice(workload, target);
}

}  // namespace tile_tune::cli
