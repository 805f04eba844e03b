#include "search/timing/statistics.h"

#include <algorithm>
#include <cmath>

#include "frontend/reference/random.h"

namespace tile_tune::search {
namespace {

// 2,000 resamples place a 95 % bound within about half a percentile of where infinitely many would.
constexpr int kResamples = 2000;

}  // namespace

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(position);
  if (below + 1 >= values.size()) return values.back();
  return std::lerp(values[below], values[below + 1], position - static_cast<double>(below));
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

Interval bootstrap_median(const std::vector<double>& values, uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto count = static_cast<int64_t>(values.size());
  std::vector<double> medians(kResamples), resample(values.size());
  for (double& result : medians) {
    for (double& value : resample) value = values[reference::random_below(engine, count)];
    result = median(resample);
  }
  return {quantile(medians, 0.025), quantile(medians, 0.975)};
}

std::optional<Interval> ratio_interval(const std::vector<double>& log_ratios, uint64_t seed) {
  if (log_ratios.size() < kFewestToCompare) return std::nullopt;
  if (log_ratios.size() < kFewestForInterval) {
    const auto [least, most] = std::minmax_element(log_ratios.begin(), log_ratios.end());
    return Interval{std::exp(*least) * kSingleRound, std::exp(*most) / kSingleRound};
  }
  const Interval logs = bootstrap_median(log_ratios, seed);
  return Interval{std::exp(logs.lo), std::exp(logs.hi)};
}

int64_t calls_per_sample(double call_ns) {
  // A call cannot be shorter than a nanosecond; that bounds the count too.
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(kMinSampleNs / std::max(call_ns, 1.0))));
}

int halving_rungs(int candidates) {
  int rungs = 1;
  for (int left = (candidates + 1) / 2; left > 1; left = (left + 1) / 2) ++rungs;
  return rungs;
}

std::vector<int> better_half(const std::vector<int>& alive, const std::vector<double>& scores) {
  std::vector<int> sorted = alive;
  std::sort(sorted.begin(), sorted.end(),
            [&](int a, int b) { return scores[a] != scores[b] ? scores[a] > scores[b] : a < b; });
  sorted.resize((sorted.size() + 1) / 2);
  return sorted;
}

void shuffle(std::vector<int>& items, std::mt19937_64& engine) {
  for (size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[reference::random_below(engine, static_cast<int64_t>(i))]);
}

}  // namespace tile_tune::search
