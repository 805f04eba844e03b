// What the generated baselines start from: arguments of a kernel, element types, arithmetic.
//
// This and the other files of the folder are no part of the tool: they are written out and compiled by the machine's
// own compiler, against the libraries found there (docs/benchmark.md). Each library's adapter (*.cpp) is compiled once
// and kept; what every baseline includes (*.h) is small, since parsing it is most of what compiling one takes.
#pragma once

#include <omp.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <limits>

/// Keeps the reason of a fault; set by whoever loads the library (search/judge/host_kernel.h).
extern "C" __attribute__((visibility("default"))) void (*tile_tune_kernel_error)(void* context, const char* message);

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
void* scratch_bytes(int64_t bytes);
template <typename T>
T* scratch(int64_t count) {
  return static_cast<T*>(scratch_bytes(count * static_cast<int64_t>(sizeof(T))));
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
using Axes = std::initializer_list<Axis>;

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

inline int64_t floor_div(int64_t a, int64_t b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }
inline int64_t floor_mod(int64_t a, int64_t b) { return b == 0 ? 0 : a - b * floor_div(a, b); }
inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

/// A sentence about what was used; the benchmark shows it.
void add_note(const char* text);

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
