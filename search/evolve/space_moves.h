// The moves a search makes in a space of schedules, as functions: the loop knows nothing else of the space, so that it
// can be tested on a recorded landscape. Every function is pure but for the generator's state.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "search/predict/features.h"
#include "search/space/space.h"

namespace tile_tune::search {

struct Moves {
  std::function<codegen::Schedule()> default_schedule;
  /// Seeds of guided searches that follow from the program alone, like the default; the first are the most promising.
  std::function<std::vector<codegen::Schedule>()> alternatives;
  /// These with what they did not do as asked, and why.
  std::function<Drawn(Rng&)> sample;
  std::function<Drawn(const codegen::Schedule&, Rng&)> mutate;
  std::function<Drawn(const codegen::Schedule&, const codegen::Schedule&, Rng&)> crossover;
  /// Equal exactly for equal schedules; what Trial::parents holds.
  std::function<std::string(const codegen::Schedule&)> key;
  /// What the cost model sees of a schedule; equally many numbers for each.
  std::function<std::vector<float>(const codegen::Schedule&)> row;
  /// A rough time for ranking what nobody measured.
  std::function<double(const codegen::Schedule&)> estimate;
  /// Why a schedule is not worth a compile, in a sentence without figures; nothing if it may be.
  std::function<std::optional<std::string>(const codegen::Schedule&)> hopeless;
};

/// The moves of `space`, which must outlive them; the key is codegen::schedule_id.
Moves moves_of(const Space& space);

}  // namespace tile_tune::search
