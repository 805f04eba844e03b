#include "search/predict/warp_access.h"

#include <algorithm>
#include <array>

namespace tile_tune::predict {
namespace {

/// Where the threads of the first warp begin. Returns how many there are.
int first_bytes(const WarpAccess& access, std::array<int64_t, kWarp>& first) {
  int count = 1;
  first[0] = 0;
  for (const auto& [threads, step] : access.dimensions) {
    const int of_slower = count;
    for (int64_t position = 1; position < threads && count < kWarp; ++position)
      for (int t = 0; t < of_slower && count < kWarp; ++t) first[count++] = first[t] + position * step;
  }
  return count;
}

int64_t floor_of(int64_t number, int64_t divisor) { return number / divisor - (number % divisor < 0 ? 1 : 0); }

/// Counts the different pieces of `size` bytes in which [first, first + bytes) lie, sorted into `pieces`.
int pieces_of(const int64_t* first, int count, int64_t bytes, int64_t size, std::array<int64_t, 4 * kWarp>& pieces) {
  int found = 0;
  for (int t = 0; t < count; ++t)
    for (int64_t piece = floor_of(first[t], size); piece <= floor_of(first[t] + bytes - 1, size); ++piece)
      pieces[found++] = piece;
  std::sort(pieces.begin(), pieces.begin() + found);
  return static_cast<int>(std::unique(pieces.begin(), pieces.begin() + found) - pieces.begin());
}

int touched(const WarpAccess& access, int64_t size) {
  std::array<int64_t, kWarp> first;
  std::array<int64_t, 4 * kWarp> pieces;
  return pieces_of(first.data(), first_bytes(access, first), access.bytes, size, pieces);
}

}  // namespace

int sectors(const WarpAccess& access) { return touched(access, kSector); }
int lines(const WarpAccess& access) { return touched(access, kDeviceLine); }

int bank_passes(const WarpAccess& access) {
  std::array<int64_t, kWarp> first;
  std::array<int64_t, 4 * kWarp> words;
  const int threads = first_bytes(access, first);
  const int together = static_cast<int>(kWarp / std::max<int64_t>(access.bytes / kBank, 1));
  int passes = 0;
  for (int t = 0; t < threads; t += together) {
    const int count = pieces_of(first.data() + t, std::min(together, threads - t), access.bytes, kBank, words);
    std::array<int, kWarp> of_bank{};
    for (int i = 0; i < count; ++i) ++of_bank[static_cast<size_t>((words[i] % kWarp + kWarp) % kWarp)];
    passes += *std::max_element(of_bank.begin(), of_bank.end());
  }
  return passes;
}

}  // namespace tile_tune::predict
