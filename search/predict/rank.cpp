#include "search/predict/rank.h"

#include <algorithm>
#include <numeric>

namespace tile_tune::predict {
Result<std::vector<size_t>> rank_untried(const Features& features, const std::vector<codegen::Schedule>& candidates,
                                         const std::vector<Sample>& samples) {
  std::vector<double> times;
  for (const auto& candidate : candidates) times.push_back(std::max(features.estimate(candidate), 1e-9));
  const double least = times.empty() ? 0 : *std::min_element(times.begin(), times.end());
  std::vector<float> speeds;
  for (const double time : times) speeds.push_back(static_cast<float>(least / time));
  if (samples.size() >= kFewestSamples && !candidates.empty()) {
    TILE_TUNE_TRY(model, CostModel::fit(samples));
    std::vector<std::vector<float>> rows;
    for (const auto& candidate : candidates) rows.push_back(features.row(candidate));
    TILE_TUNE_TRY(predictions, model.predict(rows));
    const float trust = trust_in_estimates(samples.size());
    for (size_t i = 0; i < speeds.size(); ++i) speeds[i] = predictions[i] + trust * (speeds[i] - predictions[i]);
  }
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return speeds[a] > speeds[b]; });
  return order;
}

}  // namespace tile_tune::predict
