// Chance and logarithms that are the same on every machine: the orders that searches find are part of records' keys,
// and the C library's logarithms differ in their last bit from processor to processor.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tile_tune::plan {

/// To 1/2048 (of floats above 0, not subnormal); infinity is 1024.
class Log2 {
 public:
  Log2() {
    for (size_t i = 0; i < kSteps; ++i)
      fractions_[i] = std::round(std::log2(1 + (static_cast<double>(i) + 0.5) / kSteps) * kUnit) / kUnit;
  }
  double operator()(double value) const {
    const auto bits = std::bit_cast<uint64_t>(value);
    return static_cast<double>(static_cast<int64_t>(bits >> 52) - 1023) +
           fractions_[bits >> (52 - kBits) & (kSteps - 1)];
  }

 private:
  static constexpr int kBits = 11;
  static constexpr size_t kSteps = size_t{1} << kBits;
  static constexpr double kUnit = 1 << 20;  // what is rounded to such parts has no last bit to differ in
  std::array<double, kSteps> fractions_;
};

inline double log2_of(double value) {
  static const Log2 log2;
  return log2(value);
}

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u) {
    if (state_ == 0) state_ = 1;
    for (int i = 0; i < 8; ++i) next();
  }
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Du;
  }
  uint32_t below(uint32_t count) { return static_cast<uint32_t>((next() >> 32) * count >> 32); }
  /// Above 0, at most 1.
  double fraction() { return static_cast<double>((next() >> 12) + 1) * 0x1p-52; }
  /// How much worse chance takes at temperature 1, in factors of two: accept what has at most this times the
  /// temperature.
  double patience() { return -log2_of(fraction()); }

 private:
  uint64_t state_;
};

}  // namespace tile_tune::plan
