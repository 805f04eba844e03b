#include "engine/records/schedule_choice.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <set>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "codegen/schedule/check.h"
#include "codegen/target/host.h"
#include "db/identity.h"
#include "db/stack.h"
#include "engine/records/curated.h"
#include "engine/records/damage.h"
#include "engine/records/network_steps.h"
#include "engine/records/predicted_records.h"
#include "engine/records/transfer.h"
#include "engine/records/tuned_record.h"
#include "search/space/space.h"

namespace tile_tune::engine {

namespace {

constexpr const char* kTune = "tile-tune tune finds a faster one";

ScheduleChoice tuned(codegen::Schedule schedule, const db::BestRow& best, const Workload& workload,
                     const Reporter& report) {
  if (!best.same_target || !best.same_tool)
    report.warn("stale-record",
                fmt::format("the schedule of {} was tuned {}", described(workload),
                            best.same_target ? "by another version of the tool" : "on another CPU"),
                "`tile-tune db recheck` rechecks it against the default schedule here");
  return {std::move(schedule), "tuned", rung_of(best), record_json(best)};
}

/// Numbers of threads, other than the target's, for which there are trials of the workload on its instruction set:
/// those that are larger, then those that are smaller, each from the nearest on.
Result<std::vector<int>> other_threads(const Workload& workload, const codegen::Target& target,
                                       std::vector<db::Database>& stack) {
  std::set<int> larger;
  std::set<int, std::greater<>> smaller;
  const std::string wanted = db::workload_id(workload.row);
  for (auto& database : stack) {
    TILE_TUNE_TRY(rows, database.recorded(workload.row.family_hash));
    for (const auto& row : rows) {
      if (row.target.text() != target.text() || db::workload_id(row.program) != wanted) continue;
      if (row.target.machine.threads > target.threads) larger.insert(row.target.machine.threads);
      if (row.target.machine.threads < target.threads) smaller.insert(row.target.machine.threads);
    }
  }
  std::vector<int> threads(larger.begin(), larger.end());
  threads.insert(threads.end(), smaller.begin(), smaller.end());
  return threads;
}

/// The best schedule for the nearest other number of threads.
Result<std::optional<db::BestRow>> best_for_other_threads(const Workload& workload, const codegen::Target& target,
                                                          std::vector<db::Database>& stack) {
  const auto may_be_taken = [&](const db::BestRow& best) -> Result<bool> {
    TILE_TUNE_TRY(refuted,
                  db::refutation(db::each_of(stack), workload.row, target_row(target), tool_row(), best.schedule_id));
    if (refuted) return false;
    return fitting_for(best.schedule_json, workload.program, target).has_value();
  };
  TILE_TUNE_TRY(numbers, other_threads(workload, target, stack));
  for (const int threads : numbers) {
    codegen::Target other = target;
    other.threads = threads;
    TILE_TUNE_TRY(best, db::best_of(stack, workload.row, target_row(other), tool_row(), may_be_taken));
    if (best) return best;
  }
  return std::nullopt;
}

/// What was tuned for more threads, as it is.
ScheduleChoice with_fewer_threads(const db::BestRow& best, const Workload& workload, const codegen::Target& target,
                                  const Reporter& report) {
  report.warn("untuned",
              fmt::format("{} is tuned for {}, not for {}: that schedule is taken", described(workload),
                          threads_text(best.target.machine.threads), threads_text(target.threads)),
              untuned_note(target, kTune));
  nlohmann::json nearest{{"sizes", json_of_text(best.program.sizes_json)},
                         {"dtypes", best.program.dtypes},
                         {"layout", best.program.layout},
                         {"content_hash", best.program.content_hash},
                         {"threads", best.target.machine.threads},
                         {"trial", best.trial_id}};
  nlohmann::json record{{"untimed", true}, {"nearest", std::move(nearest)}};
  return {*fitting_for(best.schedule_json, workload.program, target), "nearest", "nearest", std::move(record)};
}

/// Those that were found in a database since it had `known`.
void warn_of_damage(const db::Database& database, size_t known, const Reporter& report) {
  const auto& records = database.damaged_records();
  if (records.size() > known)
    report.warn("damaged-record", damage_text({records.begin() + static_cast<long>(known), records.end()}),
                "`tile-tune db recheck` looks for all of them");
}

}  // namespace

std::string threads_text(int threads) { return base::format_number(static_cast<size_t>(threads), "thread"); }

std::string described(const Workload& workload) {
  const std::string sizes = sizes_text(workload.row.sizes_json);
  return sizes.empty() ? workload.row.name : fmt::format("{} ({})", workload.row.name, sizes);
}

std::string target_text(const codegen::Target& target, const Session& session) {
  return session.settings.target.find(',') == std::string::npos ? "this target" : target.text();
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

std::string rung_of(const db::BestRow& best) {
  if (db::staleness(best) > 0) return "stale";
  return best.rechecked ? "rechecked" : "exact";
}

ScheduleChoice default_choice(const Workload& workload, const codegen::Target& target) {
  return {search::Space(workload.program, target).default_schedule(), "default", "default", {{"untimed", true}}};
}

Result<ScheduleChoice> given_choice(const Workload& workload, const codegen::Target& target, const std::string& path) {
  TILE_TUNE_TRY(text, read_text(path));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail(ErrorClass::Program, "bad-json", fmt::format("{} is not JSON", path));
  const auto in_file = [&](Diagnostic diagnostic) {
    diagnostic.message = path + ": " + diagnostic.message;
    return tl::unexpected(std::move(diagnostic));
  };
  // What `explain --what schedule --json` prints has it as one of its fields.
  const bool is_answer = json.is_object() && json.contains("schedule") && !json.contains("stages");
  auto schedule = codegen::schedule_from_json(is_answer ? json["schedule"] : json);
  if (!schedule) return in_file(std::move(schedule.error()));
  if (auto fits = codegen::check_for(target, workload.program, *schedule); !fits)
    return in_file(std::move(fits.error()));
  return ScheduleChoice{std::move(*schedule), "given", "given", {{"untimed", true}}};
}

std::string untuned_note(const codegen::Target& target, const std::string& advice) {
  return codegen::check_runs_here(target) ? advice : "kernels for it do not run here, so they cannot be tuned here";
}

Result<std::vector<db::Database>> open_stack(const Session& session, const std::string& note) {
  const auto named = session.databases();
  if (!named && named.error().code == "no-home") return {};  // where nothing can have been tuned
  TILE_TUNE_TRY(paths, named);
  std::vector<db::Database> stack;
  for (const auto& path : paths) {
    auto database = db::Database::open(path, db::Mode::ReadOnly);
    if (database) {
      stack.push_back(std::move(*database));
      continue;
    }
    Diagnostic& error = database.error();
    const bool newer_layer = error.code == "database-newer" && &path != &paths.front();
    if (error.code != "no-database" && !newer_layer) return tl::unexpected(std::move(error));
    // The default file is missing until something is tuned; one that --db names may be a slip.
    error.severity = Severity::Warning;
    if (!note.empty() && error.code == "no-database") error.note = note;
    if (!session.settings.databases.empty()) session.report.diagnostic(error);
  }
  return stack;
}

Result<std::optional<ScheduleChoice>> tuned_choice(const Workload& workload, const codegen::Target& target,
                                                   std::vector<db::Database>& stack, const Session& session) {
  std::vector<size_t> known;
  for (const auto& database : stack) known.push_back(database.damaged_records().size());
  bool passed_over = false;
  const auto fits = [&](const db::BestRow& best) -> Result<bool> {
    const bool taken = fitting_for(best.schedule_json, workload.program, target).has_value();
    passed_over |= !taken;
    return taken;
  };
  TILE_TUNE_TRY(best, db::best_of(stack, workload.row, target_row(target), tool_row(), fits));
  for (size_t i = 0; i < stack.size(); ++i) warn_of_damage(stack[i], known[i], session.report);
  // A record that does not fit is worth a warning, not a failure, nor the loss of one that does.
  if (passed_over)
    session.report.warn(
        "stale-record",
        fmt::format("a stored schedule of {} does not fit this version and is passed over", described(workload)),
        best ? "" : "tune it again");
  if (!best) return std::nullopt;
  return tuned(*fitting_for(best->schedule_json, workload.program, target), *best, workload, session.report);
}

Result<ScheduleChoice> stored_choice(const Workload& workload, const codegen::Target& target,
                                     std::vector<db::Database>& stack, const Session& session) {
  TILE_TUNE_TRY(tuned, tuned_choice(workload, target, stack, session));
  if (tuned) {
    if (tuned->rung != "stale")
      session.report.notice(fmt::format("{}: tuned schedule ({})", described(workload), tuned->rung));
    return std::move(*tuned);
  }
  TILE_TUNE_TRY(curated, curated_record(workload, target, stack, session));
  if (curated) {
    session.report.notice(fmt::format("{}: tuned schedule (curated)", described(workload)));
    return ScheduleChoice{*fitting_for(curated->schedule_json, workload.program, target), "tuned", "curated",
                          record_json(*curated)};
  }
  TILE_TUNE_TRY(other, best_for_other_threads(workload, target, stack));
  if (other && other->target.machine.threads > target.threads)
    return with_fewer_threads(*other, workload, target, session.report);
  std::string note = untuned_note(target, kTune);
  if (other)
    note += fmt::format("; it is tuned for {0}: --threads {1}", threads_text(other->target.machine.threads),
                        other->target.machine.threads);
  const auto warn = [&](const std::string& what) {
    session.report.warn(
        "untuned", fmt::format("{} is not tuned for {}: {}", described(workload), target_text(target, session), what),
        note);
  };
  TILE_TUNE_TRY(predicted, predicted_schedule(workload, target, stack));
  if (predicted) {
    warn("the schedule predicted to be the best is taken");
    return ScheduleChoice{std::move(*predicted), "predicted", "predicted", {{"untimed", true}}};
  }
  TILE_TUNE_TRY(of_steps, schedule_of_steps(workload, target, stack));
  if (of_steps) {
    warn("its steps run as they are tuned alone");
    return ScheduleChoice{std::move(*of_steps), "steps", "steps", {{"untimed", true}}};
  }
  TILE_TUNE_TRY(nearest, transferred_schedules(workload, target, stack, 1));
  if (!nearest.empty() && nearest.front().beats_default) {
    auto& best = nearest.front();
    warn(fmt::format("the schedule of {} is adapted to it", best.relative));
    nlohmann::json record{{"untimed", true}, {"nearest", std::move(best.record)}};
    return ScheduleChoice{std::move(best.schedule), "nearest", "nearest", std::move(record)};
  }
  warn("the default schedule is taken");
  return default_choice(workload, target);
}

}  // namespace tile_tune::engine
