#include "engine/linear_algebra/batch.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "base/cpus.h"

namespace tile_tune::engine {
namespace {

// A thread takes some 30 us to start and end: what a core computes in that time, two or three times over.
constexpr double kFlopsWorthAThread = 1e6;

}  // namespace

int threads_for(int64_t entries, double flops, int wanted) {
  if (entries < 2) return 1;  // without asking the system, which takes as long as a small factorisation
  const int threads = wanted > 0 ? wanted : base::usable_cpus();
  // Fewer matrices than threads are better off with the library's own.
  if (entries < threads) return 1;
  return static_cast<int>(
      std::clamp(static_cast<double>(entries) * flops / kFlopsWorthAThread, 1.0, static_cast<double>(threads)));
}

std::optional<Failure> for_each_entry(int64_t entries, int threads, const lapack::Library& library,
                                      const std::function<int(int64_t entry, int thread)>& work) {
  std::vector<std::optional<Failure>> failures(static_cast<size_t>(threads));
  // Neighbours to one thread each, so that the first of all failures is the first of some thread's.
  const auto run = [&](int thread) {
    for (int64_t entry = entries * thread / threads; entry < entries * (thread + 1) / threads; ++entry)
      if (const int info = work(entry, thread); info != 0) {
        failures[static_cast<size_t>(thread)] = Failure{entry, info};
        return;
      }
  };
  if (threads == 1) {
    run(0);
  } else {
    const lapack::OneThread alone(library);
    std::vector<std::thread> others;
    others.reserve(static_cast<size_t>(threads));
    int started = 1;
    try {
      for (; started < threads; ++started) others.emplace_back(run, started);
    } catch (const std::system_error&) {
      // No more threads for this process: this one computes what is left.
    }
    run(0);
    for (int thread = started; thread < threads; ++thread) run(thread);
    for (auto& other : others) other.join();
  }
  for (const auto& failure : failures)
    if (failure) return failure;
  return std::nullopt;
}

}  // namespace tile_tune::engine
