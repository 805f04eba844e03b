// What the generated baselines start from: arguments of a kernel, and the choice between ways of doing one thing.
//
// This and the other files of the folder are no part of the tool: they are written out and compiled with the generated
// source of a baseline, by the machine's own compiler, against the libraries found there (docs/benchmark.md).
#pragma once

#include <omp.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

/// Keeps the reason of a fault; set by whoever loads the library (search/judge/host_kernel.h).
extern "C" __attribute__((visibility("default"))) void (*tile_tune_kernel_error)(void* context, const char* message);
void (*tile_tune_kernel_error)(void* context, const char* message) = nullptr;

namespace baseline {

/// The beginning of a halide_buffer_t, whose layout is fixed (HalideRuntime.h).
struct Argument {
  uint64_t device;
  const void* device_interface;
  uint8_t* host;
};
template <typename T>
T* data(void* argument) {
  return reinterpret_cast<T*>(static_cast<Argument*>(argument)->host);
}

/// Memory of a temporary; stays for the life of the process. Aligned as libraries like it, and touched, so that no
/// timed call meets a page for the first time.
template <typename T>
T* scratch(int64_t count) {
  const size_t bytes = (static_cast<size_t>(count) * sizeof(T) + 4095) / 4096 * 4096;
  void* memory = std::aligned_alloc(4096, std::max<size_t>(bytes, 4096));
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  return static_cast<T*>(memory);
}

/// A float as an integer, as docs/meaning.md has it: truncated, saturated, NaN as 0.
template <typename To, typename From>
To truncated(From value) {
  constexpr From kLeast = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From kBeyond = 2 * static_cast<From>(std::numeric_limits<To>::max() / 2 + 1);
  if (value != value) return 0;
  if (value < kLeast) return std::numeric_limits<To>::min();
  return value < kBeyond ? static_cast<To>(value) : std::numeric_limits<To>::max();
}

struct Axis {
  int64_t extent, a, b, c;
};

struct Window {
  int64_t image, kernel, result, stride, dilation, pad_before, pad_after, image_step, kernel_step, result_step;
};

struct bf16 {
  uint16_t bits;
  operator float() const {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  bf16() = default;
  bf16(float value) {  // to the nearest, ties to even
    uint32_t wide;
    std::memcpy(&wide, &value, 4);
    bits = static_cast<uint16_t>((wide + 0x7FFF + ((wide >> 16) & 1)) >> 16);
  }
};
using f16 = _Float16;

/// Conversions by F16C's instructions, which GCC 12 does not use in vectors by itself.
constexpr int64_t kF16Vector = 8;
inline void convert_vector(const f16* from, float* to) {
#ifdef __F16C__
  _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
  for (int64_t i = 0; i < kF16Vector; ++i) to[i] = from[i];
#endif
}
inline void convert_vector(const float* from, f16* to) {
#ifdef __F16C__
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT));
#else
  for (int64_t i = 0; i < kF16Vector; ++i) to[i] = static_cast<f16>(from[i]);
#endif
}
template <typename From, typename To>
To* convert(const From* from, To* to, int64_t count, int threads) {
  const int64_t vectors = count / kF16Vector;
#pragma omp parallel for num_threads(threads) if (threads > 1)
  for (int64_t v = 0; v < vectors; ++v) convert_vector(from + v * kF16Vector, to + v * kF16Vector);
  for (int64_t i = vectors * kF16Vector; i < count; ++i) to[i] = static_cast<To>(from[i]);
  return to;
}

inline int64_t floor_div(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }
inline int64_t floor_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - b * floor_div(a, b); }

/// Several ways to the same result: the first call tries all and keeps the fastest.
class Fastest {
 public:
  void add(std::string name, std::function<void()> way) { ways_.push_back({std::move(name), std::move(way)}); }
  bool empty() const { return ways_.empty(); }
  const std::string& name() const { return ways_[best_].name; }
  void operator()() {
    if (best_ < 0) choose();
    ways_[best_].run();
  }

 private:
  struct Way {
    std::string name;
    std::function<void()> run;
  };
  static double seconds(const std::function<void()>& run) {
    const auto start = std::chrono::steady_clock::now();
    run();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  void choose() {
    constexpr int kTries = 7;
    double best = 1e30;
    for (size_t w = 0; w < ways_.size(); ++w) {
      seconds(ways_[w].run);  // threads start, pages are touched
      double shortest = 1e30;
      for (int attempt = 0; attempt < kTries && (attempt < 2 || shortest < 1.5 * best); ++attempt)
        shortest = std::min(shortest, seconds(ways_[w].run));
      if (shortest < best) best_ = static_cast<int>(w);
      best = std::min(best, shortest);
    }
  }
  std::vector<Way> ways_;
  int best_ = -1;
};

/// A sentence about what was used; the benchmark shows it.
inline std::string& note() {
  static std::string text;
  return text;
}
inline void add_note(const std::string& text) {
  if (note().find(text) != std::string::npos) return;
  note() += (note().empty() ? "" : ", ") + text;
}

template <typename Run>
int guarded(Run&& run) {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    if (tile_tune_kernel_error) tile_tune_kernel_error(nullptr, error.what());
    return -1;
  }
}

}  // namespace baseline

// All else is hidden: two baselines in one process must not share what only looks the same.
#define TILE_TUNE_EXPORT extern "C" __attribute__((visibility("default")))

TILE_TUNE_EXPORT const char* tile_tune_kernel_note() { return baseline::note().c_str(); }
