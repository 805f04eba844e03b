// Parallel loops and scratch memory of emitted libraries: every index once, whoever calls at the same time.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/runtime/loops.h"

namespace {

struct Counted {
  int status;
  std::vector<int> counts;
  long long inner_sum = 0;
};

Counted counted_loops(int threads, int min, int size, int inner, int fails = std::numeric_limits<int>::max()) {
  Counted result{.status = 0, .counts = std::vector<int>(size > 0 ? size : 0)};
  result.status = run_counted_loops(threads, min, size, inner, fails, result.counts.data(), &result.inner_sum);
  return result;
}

/// Whether a thread of this process waits.
bool sleeps(int thread) {
  std::string line;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/stat"), line);
  return line.find(") S ") != std::string::npos;
}

/// Those of loops before, too, some of 64 threads: while they are awake, they are on every CPU.
void wait_until_others_sleep() {
  const auto all_sleep = [] {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
      if (const int thread = std::stoi(entry.path().filename()); thread != gettid() && !sleeps(thread)) return false;
    return true;
  };
  while (!all_sleep()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Of `outer` loops of `inner` indices.
long long sum_of_all(long long outer, long long inner) { return outer * inner * (inner + 1) / 2; }

}  // namespace

TEST_CASE("every index runs once, and every one of the loops inside") {
  for (const int threads : {0, 1, 2, 7, 64})
    for (const int size : {0, 1, 2, 13, 1009})
      for (const int min : {0, -5, 1000}) {
        INFO("threads " << threads << ", size " << size << ", from " << min);
        const auto result = counted_loops(threads, min, size, 17);
        CHECK(result.status == 0);
        CHECK(result.counts == std::vector<int>(size, 1));
        CHECK(result.inner_sum == sum_of_all(size, 17));
      }
}

TEST_CASE("a thread begins with its own share, the same in every call, and then helps the others") {
  for (const int threads : {2, 3, 40})
    for (const int size : {3, 101, 1024}) {
      const int numbers = std::min(threads, size);
      for (const int first : {0, 1, numbers - 1}) {
        INFO("threads " << threads << ", size " << size << ", number " << first);
        std::vector<int> order(static_cast<size_t>(size), -1);
        order_of_loop(threads, first, size, order.data());
        const int ranges = std::min(numbers, 32);  // kept on the caller's stack
        CHECK(order.front() == size * (first % ranges) / ranges);
        std::sort(order.begin(), order.end());
        for (int index = 0; index < size; ++index) CHECK(order[static_cast<size_t>(index)] == index);
      }
    }
}

TEST_CASE("a loop of a negative size runs nothing") {
  const auto result = counted_loops(2, 0, -3, 1);
  CHECK(result.status == 0);
  CHECK(result.inner_sum == 0);
}

TEST_CASE("a call whose index fails returns its status, and the next call is well") {
  const auto result = counted_loops(3, 10, 101, 2, 50);
  CHECK(result.status == 77);
  CHECK(result.counts[40] == 0);
  for (const int count : result.counts) CHECK(count <= 1);
  CHECK(counted_loops(3, 10, 101, 2).counts == std::vector<int>(101, 1));
}

TEST_CASE("calls from several threads at once do not disturb each other") {
  std::vector<Counted> results(4);
  std::vector<std::thread> callers;
  for (size_t i = 0; i < results.size(); ++i)
    callers.emplace_back([&results, i] {
      for (int round = 0; round < 20; ++round) results[i] = counted_loops(3, 0, 50 + static_cast<int>(i), 5);
    });
  for (auto& caller : callers) caller.join();
  for (size_t i = 0; i < results.size(); ++i) {
    CHECK(results[i].status == 0);
    CHECK(results[i].counts == std::vector<int>(50 + i, 1));
    CHECK(results[i].inner_sum == sum_of_all(50 + static_cast<long long>(i), 5));
  }
}

TEST_CASE("a thread that slept wakes on another CPU than its caller's") {
  cpu_set_t all, first;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  if (CPU_COUNT(&all) < 2) return;
  int cpus[2], threads[2];
  places_of_loop(2, cpus, threads);  // the other thread is made, and not pinned with this one
  CPU_ZERO(&first);
  CPU_SET(sched_getcpu(), &first);
  sched_setaffinity(0, sizeof first, &first);
  constexpr int kTrials = 20;
  int apart = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    places_of_loop(2, cpus, threads);
    const int other = threads[0] == gettid() ? threads[1] : threads[0];
    // The last time it ran, it ran here.
    sched_setaffinity(other, sizeof first, &first);
    wait_until_others_sleep();
    sched_setaffinity(other, sizeof all, &all);
    places_of_loop(2, cpus, threads);
    apart += cpus[0] != cpus[1];
  }
  sched_setaffinity(0, sizeof all, &all);
  CHECK(apart > kTrials / 2);
}

TEST_CASE("scratch memory is aligned to 64 bytes, and eight bytes around it may be read") {
  for (const unsigned long long bytes : {64ULL, 128ULL, 4096ULL, 1ULL << 20}) {
    const auto address = reinterpret_cast<uintptr_t>(take_and_fill(bytes));
    CHECK(address != 0);
    CHECK(address % 64 == 0);
  }
  CHECK(take_and_fill(std::numeric_limits<unsigned long long>::max() - 63) == nullptr);
}

TEST_CASE("a thread keeps scratch memory for its next call, but little of it for what needs much less") {
  constexpr unsigned long long kBytes = 300'000;
  const void* const first = take_and_fill(kBytes);
  const std::vector<char> others(kBytes);  // whatever was given back to the C library would be here now
  CHECK(take_and_fill(kBytes) == first);
  CHECK(take_and_fill(kBytes - 1000) == first);
  CHECK(take_and_fill(kBytes / 8) != first);
  const void* of_other_thread = first;
  std::thread([&] { of_other_thread = take_and_fill(kBytes); }).join();
  CHECK(of_other_thread != first);
  CHECK(take_and_fill(kBytes) == first);
}

TEST_CASE("what is stored past the caches arrives wherever it goes to, and nothing beside it") {
  std::vector<unsigned char> from(400);
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 37 + 11);
  for (const int first : {0, 16, 5})
    for (const int start : {0, 16, 1, 40})
      for (const int bytes : {0, 16, 64, 256, 17, 63}) {
        CAPTURE(first, start, bytes);
        alignas(64) unsigned char to[400];
        std::fill_n(to, sizeof to, static_cast<unsigned char>(0xA5));
        stream_bytes(to + 32, start - 32, from.data(), first, bytes);
        for (int i = 0; i < 400; ++i) {
          const bool inside = i >= start && i < start + bytes;
          REQUIRE(to[i] == (inside ? from[static_cast<size_t>(first + i - start)] : 0xA5));
        }
      }
}
