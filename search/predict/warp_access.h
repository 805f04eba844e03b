// What one load or store costs a warp: the sectors of memory that its threads touch, the rounds of shared memory that
// they take.
#pragma once

#include <cstdint>
#include <vector>

namespace tile_tune::predict {

inline constexpr int kWarp = 32;
inline constexpr int64_t kSector = 32;       // bytes that a cache fetches at least
inline constexpr int64_t kDeviceLine = 128;  // bytes that a cache looks up at once
inline constexpr int64_t kBank = 4;          // bytes of each of the 32 banks of shared memory

/// Thread t of a block is at position (t / threads of all faster dimensions) mod threads along a dimension, and touches
/// `bytes` bytes from the sum of its positions times the dimensions' steps on. The first warp has threads 0 to 31, or
/// as many as there are.
struct WarpAccess {
  struct Dimension {
    int64_t threads = 1;
    int64_t step = 0;  // bytes between two neighbours
  };
  std::vector<Dimension> dimensions;  // the fastest first
  int64_t bytes = 4;                  // 1, 2, 4, 8 or 16
};

/// Sectors of 32 bytes in which the bytes of the first warp lie, thread 0's from the start of a sector on.
int sectors(const WarpAccess& access);

/// The same of lines of 128 bytes.
int lines(const WarpAccess& access);

/// Passes through shared memory that the first warp's access takes: one for each different word of the busiest bank.
/// Accesses of 8 and 16 bytes go in halves and quarters of a warp.
int bank_passes(const WarpAccess& access);

}  // namespace tile_tune::predict
