// Sets of labels as bits, as wide as a network needs.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tile_tune::plan {

template <size_t Words>
struct LabelSet {
  std::array<uint64_t, Words> words{};

  void insert(int label) { words[static_cast<size_t>(label) / 64] |= uint64_t{1} << (label % 64); }
  bool contains(int label) const { return words[static_cast<size_t>(label) / 64] >> (label % 64) & 1; }
  bool empty() const {
    uint64_t any = 0;
    for (const uint64_t word : words) any |= word;
    return any == 0;
  }
  template <typename Do>
  void for_each(Do&& act) const {
    for (size_t w = 0; w < Words; ++w)
      for (uint64_t word = words[w]; word != 0; word &= word - 1)
        act(static_cast<int>(64 * w) + std::countr_zero(word));
  }

  friend LabelSet operator|(LabelSet a, const LabelSet& b) {
    for (size_t w = 0; w < Words; ++w) a.words[w] |= b.words[w];
    return a;
  }
  friend LabelSet operator&(LabelSet a, const LabelSet& b) {
    for (size_t w = 0; w < Words; ++w) a.words[w] &= b.words[w];
    return a;
  }
  /// In the first only.
  friend LabelSet operator-(LabelSet a, const LabelSet& b) {
    for (size_t w = 0; w < Words; ++w) a.words[w] &= ~b.words[w];
    return a;
  }
  bool operator==(const LabelSet&) const = default;
};

template <size_t Words>
LabelSet<Words> label_set(const std::vector<int>& labels) {
  LabelSet<Words> result;
  for (const int label : labels) result.insert(label);
  return result;
}

/// Calls `act.template operator()<Words>()` with enough words for so many labels; false if there are too many.
template <typename Do>
bool with_words(size_t labels, Do&& act) {
  const auto fits = [&]<size_t Words>() {
    if (labels > 64 * Words) return false;
    act.template operator()<Words>();
    return true;
  };
  return fits.template operator()<1>() || fits.template operator()<2>() || fits.template operator()<4>() ||
         fits.template operator()<8>() || fits.template operator()<16>() || fits.template operator()<32>() ||
         fits.template operator()<512>();
}

}  // namespace tile_tune::plan
