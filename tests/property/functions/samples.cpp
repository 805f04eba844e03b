#include "tests/property/functions/samples.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace tile_tune::codegen::functions {
namespace {

template <typename T>
using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

}  // namespace

template <typename T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> centres{0, Limits::denorm_min(), Limits::min(), Limits::max(), Limits::epsilon(), Limits::infinity()};
  for (const double value : {0.25,
                             0.5,
                             0.75,
                             0x1.8c319227acfc8p-1,  // where the f64 tangent was wrong by 2.02 ulp
                             1.0,
                             1.5,
                             2.0,
                             2.5,
                             3.0,
                             4.0,
                             5.0,
                             8.0,
                             10.0,
                             20.0,
                             38.53,
                             45.15,
                             88.02,
                             88.72,
                             89.41,
                             103.97,
                             128.0,
                             126.0,
                             149.0,
                             150.0,
                             171.62,
                             307.65,
                             308.25,
                             323.3,
                             708.4,
                             709.78,
                             710.47,
                             745.13,
                             1022.0,
                             1024.0,
                             1074.0,
                             1075.0,
                             0.6931471805599453,
                             1.4142135623730951,
                             0.70710678118654752,
                             0x1p23,
                             0x1p24,
                             0x1p52,
                             0x1p53,
                             0x1p31,
                             0x1p63})
    centres.push_back(static_cast<T>(value));
  std::vector<T> values{Limits::quiet_NaN(), -Limits::quiet_NaN()};
  for (const T centre : centres)
    for (const T value : {std::nextafter(centre, T(0)), centre, std::nextafter(centre, Limits::infinity())}) {
      values.push_back(value);
      values.push_back(-value);
    }
  return values;
}

template <typename T>
std::vector<T> of_every_size(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = std::bit_cast<T>(static_cast<Word<T>>(random()));
  return values;
}

template <typename T>
std::vector<T> between(T least, T most, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> distribution(least, most);
  std::vector<T> values(count);
  for (T& value : values) value = distribution(random);
  return values;
}

template <typename T>
std::vector<T> samples(size_t count, uint64_t seed) {
  std::vector<T> all = special_values<T>();
  const T wide = sizeof(T) == 4 ? 100 : 800;
  for (const auto& part : {of_every_size<T>(count / 3, seed), between<T>(-2, 2, count / 3, seed + 1),
                           between<T>(-wide, wide, count / 3, seed + 2)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

template std::vector<float> special_values();
template std::vector<double> special_values();
template std::vector<float> of_every_size(size_t, uint64_t);
template std::vector<double> of_every_size(size_t, uint64_t);
template std::vector<float> between(float, float, size_t, uint64_t);
template std::vector<double> between(double, double, size_t, uint64_t);
template std::vector<float> samples(size_t, uint64_t);
template std::vector<double> samples(size_t, uint64_t);

}  // namespace tile_tune::codegen::functions
