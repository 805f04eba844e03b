#include "engine/tuning/tuning_request.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/target/host.h"
#include "frontend/reference/reference.h"

namespace tile_tune::engine {

namespace {

constexpr double kDefaultSeconds = 60;

/// What the form as written is searched with; nullopt where that is too little to learn anything.
std::optional<TuningRequest> request_as_written(const Workload& workload, const TuningRequest& request) {
  const search::Budget budget = wanted_budget(request);
  const double share = workload.row.flops / (workload.row.flops + workload.written->row.flops);
  TuningRequest own = request;
  own.seeds.clear();
  own.may_begin = true;
  if (budget.trials) own.trials = std::max(1, static_cast<int>(std::lround(share * *budget.trials)));
  if (budget.seconds) own.seconds = share * *budget.seconds;
  const double reference =
      reference::evaluation_seconds(workload.written->program) / static_cast<double>(codegen::available_cores().size());
  if (own.seconds && *own.seconds < kLeastSearchSeconds + reference) return std::nullopt;
  return own;
}

/// The same without that.
TuningRequest request_without(const TuningRequest& own, TuningRequest request) {
  const search::Budget budget = wanted_budget(request);
  if (budget.trials) request.trials = std::max(1, *budget.trials - *own.trials);
  if (budget.seconds) request.seconds = *budget.seconds - *own.seconds;
  return request;
}

}  // namespace

bool has_stored_budget(const TuningRequest& request) { return request.resume && !request.trials && !request.seconds; }

search::Budget wanted_budget(const TuningRequest& request) {
  if (request.trials || request.seconds) return {request.trials, request.seconds};
  return {std::nullopt, kDefaultSeconds};
}

double wanted_seconds(const TuningRequest& request) {
  constexpr double kForEver = std::numeric_limits<double>::infinity();
  return has_stored_budget(request) ? kForEver : wanted_budget(request).seconds.value_or(kForEver);
}

double overtime(double seconds) {
  constexpr double kShort = 10, kOfShort = 8, kLeast = 3, kShare = 0.1;
  // Ending workers, storing and telling take their part of it: a second or two where others keep the CPUs busy.
  constexpr double kForTheEnd = 2.0 / 3, kMostForTheEnd = 2.5;
  const double allowed = seconds < kShort ? kOfShort : std::max(kLeast, kShare * seconds);
  return allowed - std::min(kForTheEnd * allowed, kMostForTheEnd);
}

Shares shares_of(const Workload& workload, const TuningRequest& request) {
  if (!workload.written || has_stored_budget(request)) return {request, std::nullopt};
  const auto written = request_as_written(workload, request);
  return {written ? request_without(*written, request) : request, written};
}

std::optional<TuningRequest> within(TuningRequest share, search::Deadline end) {
  if (share.seconds) share.seconds = std::min(*share.seconds, end.left());
  if (share.seconds && *share.seconds < kLeastSearchSeconds) return std::nullopt;
  return share;
}

}  // namespace tile_tune::engine
