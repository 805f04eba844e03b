// What is seen of threads that have no core.
#include "search/timing/threads.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

using namespace tile_tune::search;

namespace {

void spin_on(int core, std::chrono::milliseconds time) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

TEST_CASE("of two threads that share a core each waits for about half of the time") {
  const int core = sched_getcpu();
  std::atomic<int> ready = 0;
  std::atomic<bool> started = false;
  const auto work = [&] {
    ++ready;
    while (!started) sched_yield();
    spin_on(core, std::chrono::milliseconds(200));
  };
  CoreWatch cores;
  std::thread one(work), other(work);
  while (ready < 2) sched_yield();
  cores.begin();
  started = true;
  usleep(150'000);
  const double waited = cores.longest_wait_ns();
  one.join();
  other.join();
  CHECK(waited > 30e6);  // of 150 ms; more on a busy machine
  CHECK(waited < 200e6);
  // Threads that ended are none, and what was waited before does not count again.
  cores.begin();
  CHECK(cores.longest_wait_ns() < 30e6);
}
