// Random numbers that are the same on every platform and standard library, so that a seed repeats a search.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace tile_tune::search {

class Rng {
 public:
  explicit Rng(uint64_t seed) : engine_(seed) {}
  /// Uniform in [0, n), n > 0. (std::uniform_int_distribution differs between libraries; the engine does not.)
  uint64_t below(uint64_t n) {
    const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t value = engine_();
    while (value >= limit) value = engine_();
    return value % n;
  }
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }
  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tile_tune::search
