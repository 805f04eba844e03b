#include "search/evolve/population.h"

#include <algorithm>
#include <cmath>

namespace tile_tune::search {

void add(Population& population, const codegen::Schedule& schedule, const std::string& key,
         const Measurement& measurement) {
  population.tried.insert(key);
  const double ratio = measurement.ratio;
  if (measurement.outcome != Outcome::Ok || !std::isfinite(ratio) || ratio <= 0) return;
  auto& ranked = population.ranked;
  const auto faster_or_earlier = [](double value, const Member& member) { return value > member.ratio; };
  const auto place = std::upper_bound(ranked.begin(), ranked.end(), ratio, faster_or_earlier);
  ranked.insert(place, Member{schedule, key, ratio, measurement.median_ns});
}

const Member* find(const Population& population, const std::string& key) {
  const auto& ranked = population.ranked;
  const auto found = std::find_if(ranked.begin(), ranked.end(), [&](const Member& m) { return m.key == key; });
  return found == ranked.end() ? nullptr : &*found;
}

}  // namespace tile_tune::search
