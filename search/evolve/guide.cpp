#include "search/evolve/guide.h"

#include <algorithm>
#include <cmath>

namespace tile_tune::search {
namespace {

// Active from eight samples, as in the replays of research/autotuners.md 2.1 (n0 8).
constexpr size_t kFewestSamples = 8;

// How much of the best's speed a candidate gives up for being no twin of one picked before it.
constexpr float kTwinPenalty = 0.1F;

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Share of the columns that tell candidates of this pool apart in which two rows agree.
class Likeness {
 public:
  explicit Likeness(const std::vector<std::vector<float>>& rows) {
    for (size_t column = 0; !rows.empty() && column < rows.front().size(); ++column)
      if (std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return !same(row[column], rows[0][column]); }))
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
    case Outcome::Ok:
    case Outcome::Slow:
    case Outcome::Duplicate:
      return std::isfinite(measurement.ratio) ? std::max(measurement.ratio, 0.0) : 0;
    default:
      return 0;
  }
}

void Guide::learn(std::vector<float> row, const Measurement& measurement) {
  const auto ratio = lesson(measurement);
  if (!ratio) return;
  rows_.push_back(std::move(row));
  ratios_.push_back(*ratio);
}

bool Guide::ready() const { return rows_.size() + experience_.size() >= kFewestSamples; }

std::vector<predict::Sample> Guide::samples() const {
  std::vector<predict::Sample> samples = experience_;
  const double best = ratios_.empty() ? 0 : *std::max_element(ratios_.begin(), ratios_.end());
  for (size_t i = 0; i < rows_.size(); ++i)
    samples.push_back({rows_[i], best > 0 ? static_cast<float>(ratios_[i] / best) : 0});
  return samples;
}

Result<std::vector<Candidate>> Guide::pick(std::vector<Candidate> pool, const std::vector<std::vector<float>>& rows,
                                           size_t count, double random, Rng& rng) {
  TILE_TUNE_TRY(model, predict::CostModel::fit(samples()));
  TILE_TUNE_TRY(predictions, model.predict(rows));
  const Likeness likeness(rows);
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
      penalty[other] = std::max(penalty[other], kTwinPenalty * likeness(rows[pick], rows[other]));
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
