#include "cli/dry_run_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/table.h"
#include "engine/records/planned.h"

namespace tile_tune::cli {

namespace {

std::string seconds_text(double low, double high) {
  return high - low < 1 ? fmt::format("{:.0f} s", high) : fmt::format("{:.0f} to {:.0f} s", low, high);
}

std::string budget_text(const search::Budget& budget) {
  std::vector<std::string> parts;
  if (budget.trials) parts.push_back(base::format_number(static_cast<size_t>(*budget.trials), "trial"));
  if (budget.seconds) parts.push_back(fmt::format("{:g} s", *budget.seconds));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "about 10^23: tiles 10^14, vectors 10, copies 10^3": groups with few choices are left out.
std::string schedules_text(const engine::DryRun& plan) {
  std::vector<std::string> groups;
  for (const auto& [name, size] : plan.log10_choices) {
    if (size < 0.5) continue;
    const std::string power = size < 1.5 ? "" : fmt::format("^{:.0f}", size);
    groups.push_back(fmt::format("{} 10{}", name, power));
  }
  const std::string all = fmt::format("about 10^{:.0f}", plan.log10_schedules);
  return groups.empty() ? all : fmt::format("{}: {}", all, fmt::join(groups, ", "));
}

std::string start_text(const engine::DryRun& plan) {
  if (!plan.stored_best.empty())
    return fmt::format("the stored schedule ({}), {} known", plan.stored_best,
                       base::format_number(static_cast<size_t>(plan.stored_trials), "trial"));
  if (plan.stored_trials > 0)
    return base::format_number(static_cast<size_t>(plan.stored_trials), "trial") + " known, of which none was chosen";
  if (plan.relatives > 0)
    return "the default schedule and those of " + base::format_number(static_cast<size_t>(plan.relatives), "relative");
  return "the default schedule";
}

}  // namespace

std::string dry_run_text(const engine::DryRun& plan, const engine::Workload& workload, size_t width) {
  const auto& row = workload.row;
  std::vector<std::vector<std::string>> facts{
      {"program", row.name},
      {"sizes", engine::sizes_text(row.sizes_json)},
      {"work", fmt::format("{}, {}", base::format_count(row.flops, "FLOP"), base::format_bytes(row.bytes))},
      {"factored", engine::steps_text(workload)},
      {"schedules", schedules_text(plan)},
      {"starts from", start_text(plan)},
      {"budget", budget_text(plan.budget)},
      {"time", fmt::format("{} ({})", seconds_text(plan.seconds_low(), plan.seconds_high()),
                           plan.measured ? "as earlier sessions of it took" : "an estimate")}};
  std::erase_if(facts, [](const auto& fact) { return fact[1].empty(); });
  return format_table({{""}, {""}}, facts, 0, width);
}

nlohmann::json dry_run_json(const engine::DryRun& plan, const engine::Workload& workload) {
  const auto& row = workload.row;
  nlohmann::json budget = nlohmann::json::object();
  if (plan.budget.trials) budget["trials"] = *plan.budget.trials;
  if (plan.budget.seconds) budget["seconds"] = *plan.budget.seconds;
  nlohmann::json choices = nlohmann::json::object();
  for (const auto& [group, size] : plan.log10_choices) choices[group] = size;
  return {{"program", row.name},
          {"factored", engine::steps_json(workload)},
          {"sizes", engine::json_of_text(row.sizes_json)},
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
