#include "tests/unit/evolve/fakes.h"

#include <algorithm>
#include <cmath>

namespace tile_tune::search {

Measurement LandscapeMeasurer::measured(const codegen::Schedule& schedule) const {
  const double time = landscape_.time(schedule);
  Measurement result;
  if (time == 0) {
    result.outcome = Outcome::CompileError;
    result.reason = "the compiler gave up";
    return result;
  }
  result.median_ns = time;
  result.ratio = landscape_.default_ns() / time;
  result.log_ratios.assign(static_cast<size_t>(rounds), std::log(result.ratio));
  return result;
}

std::vector<Measurement> LandscapeMeasurer::measure(const std::vector<codegen::Schedule>& batch,
                                                    const codegen::Schedule& incumbent, Deadline deadline) {
  deadlines.push_back(deadline.at);
  if (batches.empty()) now += first_batch_extra;
  batches.push_back(batch);
  incumbents.push_back(incumbent);
  std::vector<Measurement> results;
  for (const auto& schedule : batch) {
    if (answer_at_most == 0) break;
    --answer_at_most;
    now += seconds_each;
    if (now > deadline.at) break;
    results.push_back(measured(schedule));
  }
  now = std::min(now, std::max(deadline.at, 0.0));
  after_batch();
  return results;
}

std::vector<Measurement> LandscapeMeasurer::finals(const std::vector<codegen::Schedule>& schedules, Deadline deadline) {
  finalists = schedules;
  if (now + finals_take > deadline.at) {
    now = deadline.at;
    return {};
  }
  now += finals_take;
  const double slower = finals_slower.empty() ? 1 : finals_slower.front();
  if (!finals_slower.empty()) finals_slower.erase(finals_slower.begin());
  std::vector<Measurement> results;
  for (const auto& schedule : schedules) {
    if (results.size() == finals_at_most) break;
    results.push_back(measured(schedule));
    results.back().median_ns *= slower;
    results.back().log_ratios.assign(static_cast<size_t>(finals_rounds), std::log(results.back().ratio));
    results.back().ratio_lo = finals_lo * results.back().ratio;
    results.back().ratio_hi = finals_hi * results.back().ratio;
  }
  return results;
}

Result<void> VectorSink::on_trial(const Trial& trial) {
  if (trials.size() >= fail_at) return failure("disk-full", "cannot store the trial: no space left");
  trials.push_back(trial);
  return {};
}

std::vector<std::string> VectorSink::keys() const {
  std::vector<std::string> keys;
  for (const Trial& trial : trials) keys.push_back(key_of(trial.schedule));
  return keys;
}

Result<TuneReport> Session::run() {
  const Surroundings surroundings{.clock = [this] { return measurer.now; },
                                  .stop = stop,
                                  .progress = [this](const Progress& event) { progress.push_back(event); }};
  return tune(moves, measurer, sink, priors, options, surroundings);
}

std::vector<Trial> searched(const std::vector<Trial>& trials) {
  std::vector<Trial> kept;
  for (const Trial& trial : trials)
    if (trial.origin != "final") kept.push_back(trial);
  return kept;
}

}  // namespace tile_tune::search
