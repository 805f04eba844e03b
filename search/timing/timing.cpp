#include "search/timing/timing.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/judge/verify.h"
#include "search/timing/statistics.h"

namespace tile_tune::search {
namespace {

// Decision 26.
constexpr int kScreeningCalls = 3;  // after one untimed
constexpr double kSlowFactor = 3;
// The same of calls beyond kLongCallNs: the two clocks of one machine differ by less (decision 28).
constexpr double kLongSlowFactor = 2;

// Of a sample's time, what a thread of it may wait for a core. On two threads both together waited 0.003 to 0.013 where
// nobody else wanted one, 0.1 to 1.1 with another process on one of two (products of 256 x 256 x 256 on two threads,
// Zen 4).
constexpr double kMostWaiting = 0.05;
constexpr double kSwitchedShare = 0.25;  // of the samples: beyond it a quartile moves
constexpr double kSpread = 0.15;         // as is_disturbed() says

double spread(const std::vector<double>& logarithms) {
  return logarithms.empty() ? 0 : quantile(logarithms, 0.75) - quantile(logarithms, 0.25);
}

long involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

/// Keeps the values whose flag is set; a list of another length (nothing was booked) stays as it is.
void keep_where(const std::vector<bool>& flags, std::vector<double>& values) {
  if (values.size() != flags.size()) return;
  std::vector<double> kept;
  for (size_t i = 0; i < values.size(); ++i)
    if (flags[i]) kept.push_back(values[i]);
  values = std::move(kept);
}

void put_out(Contestant& contestant, const Reply& fault) {
  contestant.timing.outcome = fault.outcome;
  contestant.timing.reason = fault.reason;
}

/// The median time of the first calls after one that is not timed, or that of the first that is long, which is the very
/// first only where no loading is in it.
Sample first_calls(Bench& bench, Contestant& contestant) {
  std::vector<double> times;
  Sample sample;
  for (int call = 0; call <= kScreeningCalls; ++call) {
    sample = bench.sample(**contestant.kernel, 1);
    if (sample.code != 0) {
      put_out(contestant, bench.executor().fault(sample.code));
      return {.code = sample.code};
    }
    const bool counts = call > 0 || !bench.executor().first_call_loads();
    const bool is_long = counts && sample.ns > kLongCallNs;
    if (call > 0 || is_long) times.push_back(sample.ns);
    if (is_long) break;
  }
  contestant.timing.samples_ns = times;
  sample.ns = median(times);
  return sample;
}

}  // namespace

Bench::Bench(const Executor& executor, const Problem& problem, double call_seconds, int reply_fd)
    : executor_(executor),
      problem_(problem),
      call_seconds_(call_seconds),
      memory_(executor.allocate(problem, Flush::Begin)) {
  memory_->prepare_outputs(std::byte{0});
  executor.watch_guards(memory_.get(), reply_fd);
}

Call& Bench::call_of(const PreparedKernel& kernel) {
  auto& call = calls_[&kernel];
  if (!call) call = executor_.bind(problem_.program, kernel, *memory_, Flush::Begin);
  return *call;
}

Sample Bench::sample(const PreparedKernel& kernel, int64_t calls) {
  memory_->restore();
  Sample sample;
  Call& call = call_of(kernel);
  if (problem_.program.cold) {
    calls = 1;
    memory_->evict();
    call.evict();
  }
  const CallLimit limit(call_seconds_ + kMinSampleNs * 1e-9);
  const long switches = involuntary_switches();
  cores_.begin();
  const Timed timed = call.run(calls);
  sample.code = timed.code;
  sample.ns = timed.ns / static_cast<double>(calls);
  sample.launch_ns = timed.launch_ns / static_cast<double>(calls);
  // A device's clock sees nothing of what the host waits for, unless the device waits for the host. A switch is nothing
  // to a long call, in which there always is one.
  if (timed.launch_ns == 0 || timed.launch_ns >= timed.ns)
    sample.switched = (sample.ns <= kLongCallNs && involuntary_switches() != switches) ||
                      cores_.longest_wait_ns() > kMostWaiting * timed.ns;
  sample.switched = sample.switched || executor_.is_held_back();
  return sample;
}

Reply Bench::check(const PreparedKernel& kernel) {
  memory_->prepare_outputs(std::byte{0xFF});
  const CallLimit limit(call_seconds_);
  Call& call = call_of(kernel);
  if (const int code = call.run(1).code; code != 0) return executor_.fault(code);
  for (const auto& trespass : {memory_->trespass(), call.trespass()})
    if (!trespass.empty()) return Reply::fault(Outcome::Wrong, trespass);
  return compare_outputs(problem_, *memory_);
}

std::vector<Contestant> load_contestants(const Executor& executor,
                                         const std::vector<std::filesystem::path>& libraries) {
  std::vector<Contestant> contestants;
  for (const auto& library : libraries) {
    Contestant contestant{executor.load(library), 1, {}};
    if (!contestant.kernel) put_out(contestant, Reply::fault(Outcome::CompileError, contestant.kernel.error().message));
    contestants.push_back(std::move(contestant));
  }
  return contestants;
}

bool is_disturbed(const Timing& timing) {
  const auto taken = static_cast<double>(timing.samples_ns.size()) + timing.left_out;
  std::vector<double> times = timing.samples_ns;
  for (double& time : times) time = std::log(time);
  return timing.switched > kSwitchedShare * taken || spread(times) > kSpread || spread(timing.log_ratios) > kSpread;
}

Reply collect(Bench& bench, std::vector<Contestant>& contestants) {
  Reply reply;
  reply.note = bench.executor().condition();
  for (auto& contestant : contestants) {
    auto& timing = contestant.timing;
    if (contestant.running() && !contestant.is_left_alone)
      if (const Reply check = bench.check(**contestant.kernel); check.outcome != Outcome::Ok) {
        timing.outcome = check.outcome;
        timing.reason = "after many calls " + check.reason;
      }
    if (timing.outcome == Outcome::Crash) return Reply::fault(Outcome::Crash, timing.reason);
    reply.timings.push_back(std::move(timing));
  }
  return reply;
}

void book_round(std::vector<Contestant>& contestants, const std::vector<int>& numbers,
                const std::vector<Sample>& samples, const std::optional<Probes>& probes) {
  for (const int number : numbers) {
    const Sample &sample = samples[number], &standard = samples[0];
    if (sample.ns <= 0) continue;
    auto& timing = contestants[number].timing;
    contestants[number].calm.push_back(!sample.switched && !standard.switched);
    if (standard.ns > 0) timing.log_ratios.push_back(std::log(standard.ns / sample.ns));
    if (!probes) continue;
    timing.flop_fractions.push_back(probes->flop_ns / sample.ns);
    timing.bandwidth_fractions.push_back(probes->stream_ns / sample.ns);
  }
}

void share_loss(std::vector<Sample>& samples) {
  const bool lost = std::any_of(samples.begin(), samples.end(), [](const Sample& sample) { return sample.switched; });
  for (Sample& sample : samples) sample.switched = lost;
}

int fewest_calm(const std::vector<Contestant>& contestants, const std::vector<int>& numbers) {
  int fewest = std::numeric_limits<int>::max();
  for (const int number : numbers) {
    const auto& calm = contestants[number].calm;
    if (contestants[number].running())
      fewest = std::min(fewest, static_cast<int>(std::count(calm.begin(), calm.end(), true)));
  }
  return fewest;
}

void keep_calm(std::vector<Contestant>& contestants, int enough) {
  for (auto& [kernel, calls, timing, calm, screening, is_left_alone] : contestants) {
    const auto kept = std::count(calm.begin(), calm.end(), true);
    if (kept < enough) continue;
    timing.left_out = static_cast<int>(calm.size()) - static_cast<int>(kept);
    for (auto* values : {&timing.samples_ns, &timing.log_ratios, &timing.flop_fractions, &timing.bandwidth_fractions})
      keep_where(calm, *values);
  }
}

Sample take_sample(Bench& bench, Contestant& contestant) {
  Sample sample = bench.sample(**contestant.kernel, contestant.calls);
  if (sample.code != 0) {
    put_out(contestant, bench.executor().fault(sample.code));
    sample.ns = 0;
    return sample;
  }
  auto& timing = contestant.timing;
  timing.samples_ns.push_back(sample.ns);
  timing.switched += sample.switched;
  if (sample.launch_ns > 0)
    timing.launch_ns = timing.launch_ns > 0 ? std::min(timing.launch_ns, sample.launch_ns) : sample.launch_ns;
  return sample;
}

void screen(Bench& bench, std::vector<Contestant>& contestants, int exempt, Deadline deadline) {
  double best = std::numeric_limits<double>::infinity();
  for (auto& contestant : contestants) {
    if (!contestant.running() || deadline.passed()) continue;
    contestant.screening = first_calls(bench, contestant);
    if (!contestant.running()) continue;
    best = std::min(best, contestant.screening.ns);
    contestant.calls = calls_per_sample(contestant.screening.ns);
  }
  for (size_t i = static_cast<size_t>(exempt); i < contestants.size(); ++i) {
    auto& contestant = contestants[i];
    const double ns = contestant.screening.ns, factor = ns > kLongCallNs ? kLongSlowFactor : kSlowFactor;
    if (!contestant.running() || ns <= factor * best) continue;
    put_out(contestant, Reply::fault(Outcome::Slow, fmt::format("{:.1f} times slower than the best", ns / best)));
    if (contestants[0].running()) contestant.timing.log_ratios = {std::log(contestants[0].screening.ns / ns)};
  }
}

bool book_screening(std::vector<Contestant>& contestants) {
  const bool is_round = contestants[0].running() && contestants[0].screening.ns > kLongCallNs;
  std::vector<int> numbers;
  std::vector<Sample> samples;
  for (size_t i = 0; i < contestants.size(); ++i) {
    auto& [kernel, calls, timing, calm, screening, is_left_alone] = contestants[i];
    samples.push_back(screening);
    if (timing.outcome != Outcome::Ok) continue;
    timing.samples_ns.clear();
    if (!is_round || screening.ns <= 0) continue;
    numbers.push_back(static_cast<int>(i));
    timing.samples_ns.push_back(screening.ns);
    timing.switched += screening.switched;
    timing.launch_ns = screening.launch_ns;
  }
  book_round(contestants, numbers, samples, std::nullopt);
  return is_round;
}

}  // namespace tile_tune::search
