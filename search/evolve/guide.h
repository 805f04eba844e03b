// The learned cost model at work in a search: what it knows, which candidates of a pool it picks, how it fared.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "search/evolve/breed.h"
#include "search/predict/model.h"
#include "search/predict/quality.h"

namespace tile_tune::search {

class Guide {
 public:
  /// What it sees of a schedule.
  struct View {
    std::vector<float> row;
    double estimate = 0;  // Moves::estimate; 0: unknown
  };

  /// `experience`: samples of other sizes of the program, each relative to the best of its own.
  explicit Guide(std::vector<predict::Sample> experience) : experience_(std::move(experience)) {}

  /// What a trial of this program taught; several of one program are judged against the best ratio among them.
  void learn(View view, const Measurement& measurement);
  /// Below some samples predictions are worse than none.
  bool ready() const;

  /// `count` of the pool (all, if it has fewer) of which it sees `views`: predicted best first, each different enough
  /// from those before it; a share `random` of the places goes to any of the pool. The order is the order to measure
  /// in. While samples are few, the predictions lean on the estimates.
  Result<std::vector<Candidate>> pick(std::vector<Candidate> pool, const std::vector<View>& views, size_t count,
                                      double random, Rng& rng);

  /// How well the picks of the last pick(), which the model had not seen, were ordered by what was measured since;
  /// nothing if no pair of them was told apart. Forgets them.
  std::optional<predict::Quality> judge(const std::vector<Candidate>& batch,
                                        const std::vector<Measurement>& measurements);

 private:
  std::vector<predict::Sample> samples() const;
  Result<std::vector<float>> predict(const std::vector<View>& views) const;

  std::vector<predict::Sample> experience_;
  std::vector<View> views_;
  std::vector<double> ratios_;                        // 0: a fault
  std::unordered_map<std::string, float> predicted_;  // of the last pick, by key
};

/// The ratio a measurement teaches: 0 for a fault; nothing where it says nothing of the schedule.
std::optional<double> lesson(const Measurement& measurement);

}  // namespace tile_tune::search
