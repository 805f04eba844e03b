// What calls are looked up by: types, shapes and strides of their arrays as whole numbers.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

namespace tile_tune::python {

/// As kernels have it (engine/handles/loaded_kernel.cpp).
constexpr size_t kMostArrays = 64;
/// That of programs (docs/tc.md).
constexpr size_t kMostDimensions = 32;

/// Lives on a call's stack: nothing is initialised, and only the words that were added are looked at.
class Key {
 public:
  void add(int64_t word) { words_[count_++] = word; }
  void add(const int64_t* from, size_t count) {
    for (size_t i = 0; i < count; ++i) words_[count_ + i] = from[i];
    count_ += count;
  }
  size_t size() const { return count_; }
  std::span<const int64_t> words() const { return {words_.data(), count_}; }

  bool equals(std::span<const int64_t> other) const {
    return other.size() == count_ && std::memcmp(other.data(), words_.data(), count_ * sizeof(int64_t)) == 0;
  }
  uint64_t hash() const {
    uint64_t hash = count_;
    for (size_t i = 0; i < count_; ++i) hash = (hash ^ static_cast<uint64_t>(words_[i])) * 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 32);
  }

 private:
  size_t count_ = 0;
  std::array<int64_t, 2 + kMostArrays*(4 + 2 * kMostDimensions)> words_;
};

}  // namespace tile_tune::python
