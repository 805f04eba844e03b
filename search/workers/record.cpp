#include "search/workers/record.h"

#include <algorithm>
#include <cmath>

#include "search/timing/roofline.h"
#include "search/timing/statistics.h"

namespace tile_tune::search {
namespace {

// Of too few rounds the share is told without an interval.
void record_roof(Measurement& measurement, Timing timing, bool from_memory, uint64_t seed) {
  keep_below_roof(timing, from_memory);
  measurement.roof_unknown = timing.flop_fractions.empty();
  if (measurement.roof_unknown) return;
  measurement.flop_fraction = median(timing.flop_fractions);
  if (from_memory) measurement.bandwidth_fraction = median(timing.bandwidth_fractions);
  const auto& shares = measurement.is_compute_bound() ? timing.flop_fractions : timing.bandwidth_fractions;
  measurement.peak_fraction = std::max(measurement.flop_fraction, measurement.bandwidth_fraction);
  if (shares.size() < kFewestForInterval) return;
  const Interval peak = bootstrap_median(shares, seed);
  measurement.peak_fraction_lo = peak.lo;
  measurement.peak_fraction_hi = peak.hi;
}

}  // namespace

void record_fault(Measurement& measurement, const Reply& reply) {
  measurement.outcome = reply.outcome;
  measurement.reason = reply.reason;
}

void record_timing(Measurement& measurement, const Timing& timing, bool alone) {
  measurement.outcome = timing.outcome;
  measurement.reason = timing.reason;
  measurement.samples_ns = timing.samples_ns;
  measurement.log_ratios = timing.log_ratios;
  measurement.median_ns = timing.samples_ns.empty() ? 0 : median(timing.samples_ns);
  measurement.ratio = timing.log_ratios.empty() ? 0 : std::exp(median(timing.log_ratios));
  measurement.disturbed = !alone || is_disturbed(timing);
  measurement.hurried = timing.hurried;
}

void record_intervals(Measurement& measurement, const Timing& timing, bool from_memory, uint64_t seed) {
  if (timing.outcome != Outcome::Ok || timing.log_ratios.empty()) return;
  const Interval ratio = ratio_interval(timing.log_ratios, seed).value_or(Interval());
  measurement.ratio_lo = ratio.lo;
  measurement.ratio_hi = ratio.hi;
  record_roof(measurement, timing, from_memory, seed);
}

void record_default(Measurement& measurement) {
  if (measurement.outcome == Outcome::Ok && !measurement.log_ratios.empty())
    measurement.ratio = measurement.ratio_lo = measurement.ratio_hi = 1;
}

}  // namespace tile_tune::search
