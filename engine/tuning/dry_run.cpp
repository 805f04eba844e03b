#include "engine/tuning/dry_run.h"

#include <algorithm>
#include <map>
#include <optional>

#include "db/stack.h"
#include "engine/records/schedule_choice.h"
#include "engine/records/transfer.h"
#include "search/space/space.h"

namespace tile_tune::engine {

namespace {

// Candidates compile in 0.1 to 1 s and are timed for 0.04 s (WorkerOptions). Two compile at once on
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
  TILE_TUNE_TRY(stack, open_stack(session, "a dry run makes none; without --dry-run it is made"));
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

}  // namespace tile_tune::engine
