// Random numbers that are the same on every platform: std::mt19937_64 is, the standard's distributions are not.
#pragma once

#include <cstdint>
#include <random>

namespace tile_tune::reference {

/// Uniform in [0, count); count > 0. The bias is below count / 2^64.
inline int64_t random_below(std::mt19937_64& engine, int64_t count) {
  return static_cast<int64_t>((static_cast<unsigned __int128>(engine()) * static_cast<uint64_t>(count)) >> 64);
}

/// Uniform in [0, 1), a multiple of 2^-53.
inline double random_unit(std::mt19937_64& engine) { return static_cast<double>(engine() >> 11) * 0x1p-53; }

}  // namespace tile_tune::reference
