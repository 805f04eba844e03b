#include "search/predict/quality.h"

#include <algorithm>
#include <numeric>

namespace tile_tune::predict {
namespace {

constexpr size_t kQuarter = 4;

/// Numbers of the `count` largest values, of equal ones the first.
template <typename T>
std::vector<size_t> largest(const std::vector<T>& values, size_t count) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] > values[b]; });
  order.resize(count);
  return order;
}

}  // namespace

Quality& Quality::operator+=(const Quality& other) {
  pairs += other.pairs;
  ordered += other.ordered;
  top += other.top;
  found += other.found;
  return *this;
}

Quality quality_of(const std::vector<float>& predicted, const std::vector<double>& measured, double noise) {
  Quality quality;
  for (size_t i = 0; i < measured.size(); ++i) {
    for (size_t j = 0; j < measured.size(); ++j) {
      if (measured[i] <= noise * measured[j]) continue;
      ++quality.pairs;
      quality.ordered += predicted[i] > predicted[j];
    }
  }
  if (quality.pairs == 0) return quality;  // nothing in it to be told apart
  const size_t count = (measured.size() + kQuarter - 1) / kQuarter;
  const auto wanted = largest(measured, count), named = largest(predicted, count);
  quality.top = static_cast<int>(count);
  for (const size_t i : wanted) quality.found += std::find(named.begin(), named.end(), i) != named.end();
  return quality;
}

}  // namespace tile_tune::predict
