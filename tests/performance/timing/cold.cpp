// Arrays that were evicted are read from memory: by hand, on an otherwise quiet machine.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>
#include <vector>

#include "search/judge/guarded_buffer.h"
#include "search/timing/statistics.h"

using namespace tile_tune::search;

TEST_CASE("reading evicted data takes several times as long") {
  using Clock = std::chrono::steady_clock;
  const GuardedBuffer buffer("t", 256 << 10, Flush::Begin);
  std::fill_n(buffer.data(), buffer.size(), std::byte{1});
  volatile int64_t sum = 0;
  const auto read_ns = [&] {
    const auto start = Clock::now();
    for (int64_t i = 0; i < buffer.size(); i += 64) sum = sum + static_cast<int64_t>(buffer.data()[i]);
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };
  std::vector<double> hot, cold;
  for (int round = 0; round < 101; ++round) {
    read_ns();
    hot.push_back(read_ns());
    buffer.evict();
    cold.push_back(read_ns());
  }
  INFO("hot " << median(hot) << " ns, cold " << median(cold) << " ns");
  CHECK(median(cold) > 2 * median(hot));
}
