#include "engine/recheck/rechecked_choice.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "db/stack.h"
#include "engine/recheck/recheck.h"
#include "engine/records/curated.h"
#include "engine/records/transfer.h"

namespace tile_tune::engine {

namespace {

/// The record as what was just measured here makes it.
db::BestRow with_measurement(db::BestRow record, const search::Measurement& measured) {
  record.median_ns = measured.median_ns;
  record.ratio = measured.ratio;
  record.ratio_lo = measured.ratio_lo;
  record.ratio_hi = measured.ratio_hi;
  record.peak_fraction = measured.peak_fraction;
  record.tool = tool_row();
  record.same_target = record.same_tool = record.rechecked = true;
  return record;
}

std::string why_not(const Rechecked& checked) {
  if (checked.measurement.outcome != search::Outcome::Ok) return search::outcome_name(checked.measurement.outcome);
  return fmt::format("{:.2f} times as fast as the default", checked.measurement.ratio);
}

/// For writing, if that is possible.
std::optional<db::Database> writable(const Session& session) {
  const auto path = session.database();
  auto database = path ? db::Database::open(*path, db::Mode::ReadWrite) : tl::unexpected(path.error());
  if (database) return std::move(*database);
  warn_of_unstored(database.error(), session.report);
  return std::nullopt;
}

/// One of the records, or nothing if none holds here.
Result<std::optional<ScheduleChoice>> standing(const std::vector<db::BestRow>& records, const Workload& workload,
                                               const codegen::Target& target, const Session& session,
                                               const std::atomic<bool>& stop) {
  auto database = writable(session);
  TILE_TUNE_TRY(checked, recheck(workload.program, records, target, database ? &*database : nullptr, session, stop));
  for (const auto& one : checked) {
    if (!one.stands) continue;
    session.report.notice(fmt::format("{}: tuned schedule (rechecked)", described(workload)));
    // As the database now has it, so that the next build without a recheck makes the same package.
    if (database) {
      TILE_TUNE_TRY(stack, open_stack(session));  // it may be new
      return tuned_choice(workload, target, stack, session);
    }
    TILE_TUNE_TRY(schedule, codegen::schedule_from_json(nlohmann::json::parse(one.record.schedule_json)));
    const auto record = with_measurement(one.record, one.measurement);
    return ScheduleChoice{std::move(schedule), "tuned", rung_of(record), record_json(record)};
  }
  if (!checked.empty())
    session.report.warn("not-rechecked", fmt::format("the stored schedule of {} does not hold here: {}",
                                                     described(workload), why_not(checked.front())));
  return std::nullopt;
}

/// A relative's schedule if it is not slower here than the default.
Result<std::optional<ScheduleChoice>> timed_nearest(const Workload& workload, const codegen::Target& target,
                                                    std::vector<db::Database>& stack, const Session& session,
                                                    const std::atomic<bool>& stop) {
  TILE_TUNE_TRY(relatives, transferred_schedules(workload, target, stack, 1));
  if (relatives.empty()) return std::nullopt;
  ScheduleChoice choice{
      std::move(relatives.front().schedule), "nearest", "nearest", {{"nearest", std::move(relatives.front().record)}}};
  db::BestRow adapted;
  adapted.program = workload.row;
  adapted.schedule_json = codegen::to_json(choice.schedule).dump();
  TILE_TUNE_TRY(checked, recheck(workload.program, {adapted}, target, nullptr, session, stop));
  if (checked.empty() || !checked.front().stands) return std::nullopt;
  const auto& measured = checked.front().measurement;
  choice.record["median_ns"] = measured.median_ns;
  choice.record["ratio_to_default"] = measured.ratio;
  choice.record["ratio_interval"] = {measured.ratio_lo, measured.ratio_hi};
  session.report.notice(fmt::format("{}: schedule of {}, {:.2f} times as fast as the default here", described(workload),
                                    relatives.front().relative, measured.ratio));
  return choice;
}

}  // namespace

Result<ScheduleChoice> rechecked_choice(const Workload& workload, const codegen::Target& target,
                                        std::vector<db::Database>& stack, const Session& session,
                                        const std::atomic<bool>& stop) {
  TILE_TUNE_TRY(records, rivals_of(stack, workload.row, target));
  if (!records.empty() && db::staleness(records.front()) == 0) return stored_choice(workload, target, stack, session);
  TILE_TUNE_TRY(curated, curated_record(workload, target, stack, session));
  if (curated) records.push_back(*std::move(curated));
  if (!records.empty()) {
    TILE_TUNE_TRY(stood, standing(records, workload, target, session, stop));
    if (stood) return std::move(*stood);
  }
  TILE_TUNE_TRY(nearest, timed_nearest(workload, target, stack, session, stop));
  if (nearest) return std::move(*nearest);
  if (!stop)
    session.report.warn(
        "untuned",
        fmt::format("{}: the default schedule is taken for {}", described(workload), target_text(target, session)),
        untuned_note(target, "tile-tune tune finds a faster one"));
  return default_choice(workload, target);
}

}  // namespace tile_tune::engine
