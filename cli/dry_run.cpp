#include "cli/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/planned.h"
#include "cli/schedule_choice.h"
#include "cli/table.h"
#include "cli/transfer.h"
#include "cli/units.h"
#include "db/stack.h"
#include "search/space/space.h"

namespace tile_tune::cli {

namespace {

// Candidates compile in 0.1 to 1 s and are timed for 0.04 s (design/search.md; WorkerOptions). Two compile at once on
// two cores, so a trial takes from half the shortest to the whole of the longest.
constexpr double kFastestTrial = 0.1, kSlowestTrial = 1;

/// What finals and getting ready take: 2 s of rounds, a runtime, the reference.
constexpr double kOverhead = 4;

/// Seconds a trial took in sessions of this program, or nothing.
std::optional<double> trial_seconds(const std::vector<db::StoredTrial>& trials) {
  struct Session {
    int trials = 0;
    double seconds = 0;
  };
  std::map<std::string, Session> sessions;
  for (const auto& [id, session, trial] : trials) {
    if (trial.origin == "final") continue;
    auto& one = sessions[session];
    ++one.trials;
    one.seconds = std::max(one.seconds, trial.elapsed_s);
  }
  Session all;
  for (const auto& [id, one] : sessions) {
    all.trials += one.trials;
    all.seconds += one.seconds;
  }
  if (all.trials == 0 || !(all.seconds > 0)) return std::nullopt;
  return all.seconds / all.trials;
}

std::string seconds_text(double low, double high) {
  return high - low < 1 ? fmt::format("{:.0f} s", high) : fmt::format("{:.0f} to {:.0f} s", low, high);
}

std::string budget_text(const search::Budget& budget) {
  std::vector<std::string> parts;
  if (budget.trials) parts.push_back(format_number(static_cast<size_t>(*budget.trials), "trial"));
  if (budget.seconds) parts.push_back(fmt::format("{:g} s", *budget.seconds));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "about 10^23: tiles 10^14, vectors 10, copies 10^3": groups with few choices are left out.
std::string schedules_text(const DryRun& plan) {
  std::vector<std::string> groups;
  for (const auto& [name, size] : plan.log10_choices) {
    if (size < 0.5) continue;
    const std::string power = size < 1.5 ? "" : fmt::format("^{:.0f}", size);
    groups.push_back(fmt::format("{} 10{}", name, power));
  }
  const std::string all = fmt::format("about 10^{:.0f}", plan.log10_schedules);
  return groups.empty() ? all : fmt::format("{}: {}", all, fmt::join(groups, ", "));
}

std::string start_text(const DryRun& plan) {
  if (!plan.stored_best.empty())
    return fmt::format("the stored schedule ({}), {} known", plan.stored_best,
                       format_number(static_cast<size_t>(plan.stored_trials), "trial"));
  if (plan.stored_trials > 0)
    return format_number(static_cast<size_t>(plan.stored_trials), "trial") + " known, of which none was chosen";
  if (plan.relatives > 0)
    return "the default schedule and those of " + format_number(static_cast<size_t>(plan.relatives), "relative");
  return "the default schedule";
}

}  // namespace

double DryRun::seconds_low() const {
  const double trials = budget.trials ? kOverhead + *budget.trials * trial_seconds_low : 1e300;
  return std::min(trials, budget.seconds.value_or(1e300));
}

double DryRun::seconds_high() const {
  const double trials = budget.trials ? kOverhead + *budget.trials * trial_seconds_high : 1e300;
  return std::min(trials, budget.seconds.value_or(1e300));
}

Result<DryRun> dry_run(const Workload& workload, const codegen::Target& target, const TuningRequest& request,
                       const Session& session) {
  DryRun plan;
  for (const auto& [group, size] : search::Space(workload.program, target).log10_sizes()) {
    plan.log10_choices.emplace_back(codegen::group_name(group), size);
    plan.log10_schedules += size;
  }
  plan.budget = wanted_budget(request);
  plan.trial_seconds_low = kFastestTrial;
  plan.trial_seconds_high = kSlowestTrial;
  TILE_TUNE_TRY(stack, open_stack(session));
  const db::TargetRow here = target_row(target);
  TILE_TUNE_TRY(best, db::best_of(stack, workload.row, here, tool_row()));
  if (best) plan.stored_best = rung_of(*best);
  std::vector<db::StoredTrial> trials;
  for (auto& database : stack) {
    TILE_TUNE_TRY(stored, database.trials_of(workload.row, here, tool_row()));
    trials.insert(trials.end(), std::make_move_iterator(stored.begin()), std::make_move_iterator(stored.end()));
  }
  plan.stored_trials = static_cast<int>(trials.size());
  if (const auto seconds = trial_seconds(trials)) {
    plan.trial_seconds_low = plan.trial_seconds_high = *seconds;
    plan.measured = true;
  }
  if (plan.stored_trials > 0) return plan;
  TILE_TUNE_TRY(relatives, transferred_schedules(workload, target, stack, kRelatives));
  plan.relatives = static_cast<int>(relatives.size());
  return plan;
}

std::string dry_run_text(const DryRun& plan, const Workload& workload) {
  const auto& row = workload.row;
  std::vector<std::vector<std::string>> facts{
      {"program", row.name},
      {"sizes", sizes_text(row.sizes_json)},
      {"work", fmt::format("{}, {}", format_count(row.flops, "FLOP"), format_bytes(row.bytes))},
      {"factored", steps_text(workload)},
      {"schedules", schedules_text(plan)},
      {"starts from", start_text(plan)},
      {"budget", budget_text(plan.budget)},
      {"time", fmt::format("{} ({})", seconds_text(plan.seconds_low(), plan.seconds_high()),
                           plan.measured ? "as earlier sessions of it took" : "an estimate")}};
  std::erase_if(facts, [](const auto& fact) { return fact[1].empty(); });
  return format_table({{""}, {""}}, facts);
}

nlohmann::json dry_run_json(const DryRun& plan, const Workload& workload) {
  const auto& row = workload.row;
  nlohmann::json budget = nlohmann::json::object();
  if (plan.budget.trials) budget["trials"] = *plan.budget.trials;
  if (plan.budget.seconds) budget["seconds"] = *plan.budget.seconds;
  nlohmann::json choices = nlohmann::json::object();
  for (const auto& [group, size] : plan.log10_choices) choices[group] = size;
  return {{"program", row.name},
          {"factored", steps_json(workload)},
          {"sizes", json_of_text(row.sizes_json)},
          {"content_hash", row.content_hash},
          {"flops", row.flops},
          {"bytes", row.bytes},
          {"log10_schedules", plan.log10_schedules},
          {"log10_choices", choices},
          {"stored_best", plan.stored_best.empty() ? nlohmann::json() : nlohmann::json(plan.stored_best)},
          {"stored_trials", plan.stored_trials},
          {"relatives", plan.relatives},
          {"budget", budget},
          {"seconds", {plan.seconds_low(), plan.seconds_high()}},
          {"measured", plan.measured}};
}

}  // namespace tile_tune::cli
