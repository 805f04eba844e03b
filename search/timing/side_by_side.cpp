#include "search/timing/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/timing/roofline.h"
#include "search/timing/statistics.h"
#include "search/timing/threads.h"

namespace tile_tune::search {
namespace {

// After one call alone, products of 500 x 26x72x26 took 440 us of ours and 348 of libxsmm's, whose OpenMP threads still
// spun; 270 and 290 after 3 ms of calls, as in races, which never pause (two Zen 4 cores).
constexpr double kWarmSeconds = 1e-3;

// First calls with the libraries free to look at the whole machine; then their threads have places.
void wake(Bench& bench, std::vector<Contestant>& contestants, ThreadPlacement& placement) {
  for (auto& contestant : contestants) {
    if (!contestant.running()) continue;
    placement.open();
    const Sample first = bench.sample(**contestant.kernel, 1);
    placement.close();
    wait_for_quiet();
    if (first.code != 0) {
      const Reply fault = bench.executor().fault(first.code);
      contestant.timing.outcome = fault.outcome;
      contestant.timing.reason = fault.reason;
    }
    contestant.timing.note = (*contestant.kernel)->note();
  }
}

// Calls a sample takes, and who is out of the question: `slow_factor` times slower than the best.
void screen_quietly(Bench& bench, std::vector<Contestant>& contestants, const SideBySide& protocol,
                    ThreadPlacement& placement) {
  double best = std::numeric_limits<double>::infinity();
  for (auto& contestant : contestants) {
    if (!contestant.running()) continue;
    wait_for_quiet();
    std::vector<double> calls;
    bool is_long = false;
    for (int call = 0; call < 4 && !is_long; ++call) {
      contestant.screening = bench.sample(**contestant.kernel, 1);
      placement.close();
      is_long = contestant.screening.ns > kLongCallNs;
      if (call > 0 || is_long) calls.push_back(contestant.screening.ns);
    }
    contestant.screening.ns = median(calls);
    best = std::min(best, contestant.screening.ns);
    contestant.calls = calls_per_sample(contestant.screening.ns);
  }
  for (size_t i = static_cast<size_t>(protocol.exempt); i < contestants.size(); ++i) {
    const double ns = contestants[i].screening.ns;
    if (!contestants[i].running() || ns <= protocol.slow_factor * best) continue;
    contestants[i].timing.outcome = Outcome::Slow;
    contestants[i].timing.samples_ns = {ns};
  }
}

// The first call wakes the threads; to give places to new ones takes so long that a pool's are asleep again, and the
// calls after that bring data and clocks to where they stay. A long call has all of that in a small part of itself: a
// table of ten libraries at 0.3 to 1.2 s a call took more than nine minutes with two more of each, six without.
Sample quiet_sample(Bench& bench, Contestant& contestant, ThreadPlacement& placement) {
  wait_for_quiet();
  if (contestant.screening.ns > kLongCallNs) return take_sample(bench, contestant);
  bench.sample(**contestant.kernel, 1);
  placement.close();
  const double start = now_seconds();
  do {
    bench.sample(**contestant.kernel, 1);
  } while (now_seconds() - start < kWarmSeconds);
  return take_sample(bench, contestant);
}

}  // namespace

Reply side_by_side(const Executor& executor, const Problem& problem,
                   const std::vector<std::filesystem::path>& libraries, const SideBySide& protocol,
                   const Runtime& runtime, double call_seconds, int reply_fd) {
  ThreadPlacement placement(runtime.cores());
  Bench bench(executor, problem, call_seconds, reply_fd);
  placement.open();
  auto contestants = load_contestants(executor, libraries);
  placement.close();
  wake(bench, contestants, placement);
  screen_quietly(bench, contestants, protocol, placement);
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto& contestant : contestants)
    if (contestant.running()) fastest = std::min(fastest, bench.sample(**contestant.kernel, 1).ns);
  if (!std::isfinite(fastest)) return collect(bench, contestants);
  wait_for_quiet();
  Roofline roofline(problem.program, runtime, fastest);

  std::mt19937_64 engine(protocol.seed);
  const double start = now_seconds();
  for (int round = 0; round < protocol.rounds || now_seconds() - start < protocol.seconds; ++round) {
    std::vector<int> order;
    for (size_t i = 0; i < contestants.size(); ++i)
      if (contestants[i].running()) order.push_back(static_cast<int>(i));
    if (order.empty()) break;
    const std::vector<int> numbers = order;
    const int flop_probe = static_cast<int>(contestants.size()), stream_probe = flop_probe + 1;
    order.insert(order.end(), {flop_probe, stream_probe});
    shuffle(order, engine);
    std::vector<Sample> samples(contestants.size());
    Probes probes;
    for (const int number : order) {
      if (number < flop_probe) {
        samples[number] = quiet_sample(bench, contestants[number], placement);
        continue;
      }
      wait_for_quiet();
      (number == flop_probe ? probes.flop_ns : probes.stream_ns) =
          number == flop_probe ? roofline.flop_limit_ns() : roofline.stream_limit_ns();
    }
    share_loss(samples);
    book_round(contestants, numbers, samples, probes);
  }
  // A thread of a library's that lost its core for a time slice is hundreds of calls late.
  keep_calm(contestants, protocol.rounds);
  return collect(bench, contestants);
}

}  // namespace tile_tune::search
