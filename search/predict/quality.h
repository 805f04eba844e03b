// How well a model's predictions order what was measured afterwards.
#pragma once

#include <vector>

namespace tile_tune::predict {

/// Counts, so that the figures of batches add up.
struct Quality {
  int pairs = 0;    // of candidates whose measured speeds differ by more than noise
  int ordered = 0;  // of them, predicted in the right order (a tie counts as wrong)
  int top = 0;      // the fastest quarter of each batch, at least one
  int found = 0;    // of them, in the predicted fastest quarter

  double pairwise_accuracy() const { return pairs > 0 ? static_cast<double>(ordered) / pairs : 0; }
  double top_recall() const { return top > 0 ? static_cast<double>(found) / top : 0; }
  Quality& operator+=(const Quality& other);
};

/// Of one batch. Speeds that differ by less than `noise` (a factor) count as equal.
Quality quality_of(const std::vector<float>& predicted, const std::vector<double>& measured, double noise = 1.01);

}  // namespace tile_tune::predict
