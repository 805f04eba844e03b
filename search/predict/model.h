// The learned cost model: gradient-boosted regression trees (XGBoost) from rows of features to a speed between 0 (does
// not work) and 1 (the best known). Small and deterministic: one thread, no sampling of rows or columns, trained anew
// from all samples each time, which takes milliseconds. The same samples in the same order give the same predictions.
#pragma once

#include <memory>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"

namespace tile_tune::predict {

struct Sample {
  std::vector<float> row;  // features; NaN: unknown
  float speed = 0;         // relative to the best of the same program and target
};

/// A model is asked from so many samples on, as decision 24 says.
inline constexpr size_t kFewestSamples = 8;

/// Share of the rough times of estimate.h in what is expected of a schedule: they count as much as what sixteen samples
/// taught.
inline float trust_in_estimates(size_t samples) { return 16.0F / (16.0F + static_cast<float>(samples)); }

class CostModel {
 public:
  /// All rows must be equally long. Fails only if XGBoost does: code cost-model.
  static Result<CostModel> fit(const std::vector<Sample>& samples);

  /// One prediction a row, in order; rows as long as those of the samples.
  Result<std::vector<float>> predict(const std::vector<std::vector<float>>& rows) const;

 private:
  explicit CostModel(std::shared_ptr<void> booster) : booster_(std::move(booster)) {}
  std::shared_ptr<void> booster_;
};

}  // namespace tile_tune::predict
