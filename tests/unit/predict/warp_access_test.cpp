// Coalescing and bank conflicts against counting every byte that every thread of a warp touches.
#include "search/predict/warp_access.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

namespace tile_tune::predict {
namespace {

/// The byte at which thread t of a block begins.
int64_t first_byte(const WarpAccess& access, int64_t t) {
  int64_t byte = 0;
  for (const auto& [threads, step] : access.dimensions) {
    byte += t % threads * step;
    t /= threads;
  }
  return byte;
}

int64_t threads_in_warp(const WarpAccess& access) {
  int64_t threads = 1;
  for (const auto& dimension : access.dimensions) threads *= dimension.threads;
  return std::min<int64_t>(threads, 32);
}

// Steps that are negative shift all of it, so that numbers to divide are positive.
constexpr int64_t kFar = int64_t{1} << 40;

int counted(const WarpAccess& access, int64_t size) {
  std::set<int64_t> touched;
  for (int64_t t = 0; t < threads_in_warp(access); ++t)
    for (int64_t b = 0; b < access.bytes; ++b) touched.insert((kFar + first_byte(access, t) + b) / size);
  return static_cast<int>(touched.size());
}

int counted_passes(const WarpAccess& access) {
  const int64_t together = access.bytes == 16 ? 8 : access.bytes == 8 ? 16 : 32;
  int passes = 0;
  for (int64_t start = 0; start < threads_in_warp(access); start += together) {
    std::map<int64_t, std::set<int64_t>> words;  // by bank
    for (int64_t t = start; t < std::min(start + together, threads_in_warp(access)); ++t)
      for (int64_t b = 0; b < access.bytes; ++b) {
        const int64_t word = (kFar + first_byte(access, t) + b) / 4;
        words[word % 32].insert(word);
      }
    size_t most = 0;
    for (const auto& [bank, of_bank] : words) most = std::max(most, of_bank.size());
    passes += static_cast<int>(most);
  }
  return passes;
}

WarpAccess random_access(std::mt19937_64& random) {
  const auto below = [&](int64_t count) { return static_cast<int64_t>(random() % static_cast<uint64_t>(count)); };
  constexpr int64_t kBytes[] = {1, 2, 4, 8, 16};
  WarpAccess access;
  access.bytes = kBytes[below(5)];
  const int64_t count = below(4);
  for (int64_t d = 0; d < count; ++d) {
    const int64_t threads = below(2) == 0 ? int64_t{1} << below(7) : 1 + below(40);
    const int64_t elements = below(3) == 0 ? below(3) : below(2) == 0 ? 1 + below(200) : int64_t{1} << below(12);
    access.dimensions.push_back({threads, (below(8) == 0 ? -1 : 1) * elements * access.bytes});
  }
  return access;
}

}  // namespace

TEST_CASE("neighbours share sectors, and rows of a matrix share banks", "[unit]") {
  CHECK(sectors({{{32, 4}}, 4}) == 4);
  CHECK(sectors({{{32, 16}}, 16}) == 16);
  CHECK(sectors({{{32, 0}}, 4}) == 1);
  CHECK(sectors({{{32, 4096}}, 4}) == 32);
  CHECK(sectors({{{8, 4}, {4, 4096}}, 4}) == 4);
  CHECK(bank_passes({{{32, 4}}, 4}) == 1);
  CHECK(bank_passes({{{32, 128}}, 4}) == 32);
  CHECK(bank_passes({{{32, 132}}, 4}) == 1);
  CHECK(bank_passes({{{32, 0}}, 4}) == 1);
  CHECK(bank_passes({{{32, 16}}, 16}) == 4);
  CHECK(bank_passes({{{16, 32}, {2, 0}}, 16}) == 8);  // 8 elements a thread, side by side
}

TEST_CASE("sectors and bank conflicts are those counted byte by byte", "[property]") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    const WarpAccess access = random_access(random);
    std::string dimensions;
    for (const auto& [threads, step] : access.dimensions)
      dimensions += std::to_string(threads) + " threads " + std::to_string(step) + " bytes apart; ";
    CAPTURE(dimensions, access.bytes);
    CHECK(sectors(access) == counted(access, 32));
    CHECK(lines(access) == counted(access, 128));
    CHECK(bank_passes(access) == counted_passes(access));
  }
}

}  // namespace tile_tune::predict
