#include "engine/tuning/steps_first.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "codegen/target/host.h"
#include "db/identity.h"
#include "engine/records/open_database.h"
#include "frontend/reference/reference.h"

namespace tile_tune::engine {

namespace {

/// Of the budget, by FLOP among all statements. abcd,cdef,fg->abeg (24, g 40) came to 0.75 and 0.78 of the FMA peak in
/// 30 s so, searched as a whole alone to 0.64 and 0.70; chains and a layer of a MERA to the same (two cores of a Zen 4,
/// 2026-11-26).
constexpr double kShareOfSteps = 0.5;
/// A batch of candidates and finals: fewer tell nothing.
constexpr int kLeastTrials = 8;

std::optional<TuningRequest> request_of(const NetworkStep& step, double share, const TuningRequest& request) {
  const search::Budget budget = wanted_budget(request);
  TuningRequest own = request;
  own.seeds.clear();
  own.may_begin = true;
  if (budget.trials) own.trials = static_cast<int>(std::lround(share * *budget.trials));
  if (budget.seconds) own.seconds = share * *budget.seconds;
  if (own.trials && *own.trials < kLeastTrials) return std::nullopt;
  const double reference =
      reference::evaluation_seconds(step.workload.program) / static_cast<double>(codegen::available_cores().size());
  if (own.seconds && *own.seconds < kLeastSearchSeconds + reference) return std::nullopt;
  return own;
}

/// Each program once, of those that are not tuned.
Result<std::vector<NetworkStep>> untuned_steps(const Workload& network, const codegen::Target& target,
                                               const Session& session) {
  auto stack = readable_databases(session);
  std::set<std::string> seen;
  std::vector<NetworkStep> steps;
  for (auto& step : steps_of(network.program)) {
    if (!seen.insert(db::workload_id(step.workload.row)).second) continue;
    TILE_TUNE_TRY(record, tuned_record(step.workload, target, stack));
    if (!record) steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

Result<TuningRequest> tune_steps(const Workload& network, const codegen::Target& target, const TuningRequest& request,
                                 Watch& watch, const Session& session, const TuneStep& tune) {
  if (has_stored_budget(request)) return request;
  TILE_TUNE_TRY(steps, untuned_steps(network, target, session));
  const search::Budget budget = wanted_budget(request);
  const search::Deadline end = budget.seconds ? search::Deadline{watch.began + *budget.seconds} : search::Deadline{};
  TuningRequest rest = request;
  for (const auto& step : steps) {
    const double share = kShareOfSteps * step.workload.row.flops / network.row.flops;
    const auto own = request_of(step, share, request);
    if (!own || watch.stop) continue;
    const std::string name = fmt::format("{} ({})", step.loaded.source, sizes_text(step.workload.row.sizes_json));
    session.report.notice(fmt::format("first its step {}", name));
    if (const auto tuned = tune(step, *own, {now_seconds(), watch.stop, {}, watch.onlooker, watch.last}); !tuned)
      session.report.warn(tuned.error().code,
                          fmt::format("its step {} was not searched: {}", name, tuned.error().message));
    if (own->trials && rest.trials) rest.trials = std::max(1, *rest.trials - *own->trials);
    if (budget.seconds) rest.seconds = std::max(0.0, end.left());
    watch.began = now_seconds();
  }
  return rest;
}

}  // namespace tile_tune::engine
