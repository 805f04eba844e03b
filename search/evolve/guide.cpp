#include "search/evolve/guide.h"

#include <algorithm>
#include <cmath>

namespace tile_tune::search {
namespace {

// How much of the best's speed a candidate gives up for being no twin of one picked before it.
constexpr float kTwinPenalty = 0.1F;

// A schedule that looks faster than the best measured is believed so up to a quarter.
constexpr double kMostOnPaper = 1.25;

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Share of the columns that tell candidates of this pool apart in which two rows agree.
class Likeness {
 public:
  explicit Likeness(const std::vector<Guide::View>& views) {
    const auto& first = views.front().row;
    for (size_t column = 0; column < first.size(); ++column)
      if (std::any_of(views.begin(), views.end(), [&](const auto& v) { return !same(v.row[column], first[column]); }))
        columns_.push_back(column);
  }
  float operator()(const std::vector<float>& a, const std::vector<float>& b) const {
    if (columns_.empty()) return 1;
    const auto agreeing = std::count_if(columns_.begin(), columns_.end(), [&](size_t c) { return same(a[c], b[c]); });
    return static_cast<float>(agreeing) / static_cast<float>(columns_.size());
  }

 private:
  std::vector<size_t> columns_;
};

}  // namespace

std::optional<double> lesson(const Measurement& measurement) {
  switch (measurement.outcome) {
    case Outcome::NoSpace:
      return std::nullopt;
    case Outcome::Ok:  // without a ratio: it works, but was never timed
      return std::isfinite(measurement.ratio) && measurement.ratio > 0 ? std::optional(measurement.ratio)
                                                                       : std::nullopt;
    case Outcome::Slow:
    case Outcome::Duplicate:
      return std::isfinite(measurement.ratio) ? std::max(measurement.ratio, 0.0) : 0;
    default:
      return 0;
  }
}

void Guide::learn(View view, const Measurement& measurement) {
  const auto ratio = lesson(measurement);
  if (!ratio) return;
  views_.push_back(std::move(view));
  ratios_.push_back(*ratio);
}

bool Guide::ready() const { return views_.size() + experience_.size() >= predict::kFewestSamples; }

std::vector<predict::Sample> Guide::samples() const {
  std::vector<predict::Sample> samples = experience_;
  const double best = ratios_.empty() ? 0 : *std::max_element(ratios_.begin(), ratios_.end());
  for (size_t i = 0; i < views_.size(); ++i)
    samples.push_back({views_[i].row, best > 0 ? static_cast<float>(ratios_[i] / best) : 0});
  return samples;
}

Result<std::vector<float>> Guide::predict(const std::vector<View>& views) const {
  TILE_TUNE_TRY(model, predict::CostModel::fit(samples()));
  std::vector<std::vector<float>> rows;
  for (const View& view : views) rows.push_back(view.row);
  TILE_TUNE_TRY(predictions, model.predict(rows));
  const auto best = std::max_element(ratios_.begin(), ratios_.end());
  const double known = best == ratios_.end() ? 0 : views_[static_cast<size_t>(best - ratios_.begin())].estimate;
  if (known <= 0) return predictions;
  const float trust = predict::trust_in_estimates(views_.size() + experience_.size());
  for (size_t i = 0; i < views.size(); ++i) {
    const auto on_paper = static_cast<float>(std::min(known / std::max(views[i].estimate, 1e-9), kMostOnPaper));
    predictions[i] += trust * (on_paper - predictions[i]);
  }
  return predictions;
}

Result<std::vector<Candidate>> Guide::pick(std::vector<Candidate> pool, const std::vector<View>& views, size_t count,
                                           double random, Rng& rng) {
  if (pool.empty()) return pool;
  TILE_TUNE_TRY(predictions, predict(views));
  const Likeness likeness(views);
  std::vector<float> penalty(pool.size(), 0);
  std::vector<size_t> left(pool.size());
  for (size_t i = 0; i < left.size(); ++i) left[i] = i;
  std::vector<Candidate> picked;
  predicted_.clear();
  while (picked.size() < count && !left.empty()) {
    auto chosen = std::max_element(left.begin(), left.end(), [&](size_t a, size_t b) {
      return predictions[a] - penalty[a] < predictions[b] - penalty[b];
    });
    if (rng.chance(random)) chosen = left.begin() + static_cast<std::ptrdiff_t>(rng.below(left.size()));
    const size_t pick = *chosen;
    left.erase(chosen);
    for (const size_t other : left)
      penalty[other] = std::max(penalty[other], kTwinPenalty * likeness(views[pick].row, views[other].row));
    predicted_[pool[pick].key] = predictions[pick];
    picked.push_back(std::move(pool[pick]));
  }
  return picked;
}

std::optional<predict::Quality> Guide::judge(const std::vector<Candidate>& batch,
                                             const std::vector<Measurement>& measurements) {
  std::vector<float> predicted;
  std::vector<double> measured;
  for (size_t i = 0; i < measurements.size(); ++i) {
    const auto known = predicted_.find(batch[i].key);
    const auto ratio = lesson(measurements[i]);
    if (known == predicted_.end() || !ratio) continue;
    predicted.push_back(known->second);
    measured.push_back(*ratio);
  }
  predicted_.clear();
  const predict::Quality quality = predict::quality_of(predicted, measured);
  if (quality.pairs == 0) return std::nullopt;
  return quality;
}

}  // namespace tile_tune::search
