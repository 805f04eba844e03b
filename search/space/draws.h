// Draws that several groups of decisions share.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "search/space/rng.h"

namespace tile_tune::search {

inline std::vector<int> random_order(size_t count, Rng& rng) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  rng.shuffle(order);
  return order;
}

/// A neighbour of `value` in `choices` half of the time, else any of them.
template <typename T, typename U>
T step_or_draw(const std::vector<T>& choices, U value, Rng& rng) {
  const auto at = std::find(choices.begin(), choices.end(), static_cast<T>(value));
  if (at == choices.end() || rng.chance(0.5)) return rng.pick(choices);
  const auto i = at - choices.begin();
  if (rng.chance(0.5)) return choices[std::max<std::ptrdiff_t>(i - 1, 0)];
  return choices[std::min<std::ptrdiff_t>(i + 1, static_cast<std::ptrdiff_t>(choices.size()) - 1)];
}

}  // namespace tile_tune::search
