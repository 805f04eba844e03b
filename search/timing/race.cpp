#include "search/timing/race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "search/timing/roofline.h"
#include "search/timing/statistics.h"

namespace tile_tune::search {
namespace {

constexpr int kFewestOfFirstRung = 3;  // rounds, however long kernels are: a median needs three
constexpr int kMostRounds = 64;        // of a rung: more would only heat the machine (samples last 200 us)

// Rounds without a lost core that say more than all rounds of a busy machine together: undisturbed times differ by some
// two percent, others by the scheduler's time slices.
constexpr int kCalmRounds = 5;

// A busy machine gets so many times as long to give the rounds that are wanted. With another process on one of two
// cores, kernels of 10 ms on both, 10 % apart, were ranked rightly in 37 of 40 races with three times as long, in all
// of 40 with eight; shorter ones in 199 of 200 with three (Zen 4; tests/performance/timing). Finals are decided by
// intervals, which tell when they are too wide.
constexpr double kRacePatience = 8, kFinalsPatience = 3;

std::vector<int> running_from(const std::vector<Contestant>& contestants, size_t first) {
  std::vector<int> numbers;
  for (size_t i = first; i < contestants.size(); ++i)
    if (contestants[i].running()) numbers.push_back(static_cast<int>(i));
  return numbers;
}

// One sample of each, paired with the default's of the same round.
void run_round(Bench& bench, std::vector<Contestant>& contestants, std::vector<int> numbers, std::mt19937_64& engine) {
  shuffle(numbers, engine);
  std::vector<Sample> samples(contestants.size());
  for (const int number : numbers) samples[number] = take_sample(bench, contestants[number]);
  book_round(contestants, numbers, samples, std::nullopt);
}

std::vector<double> scores(const std::vector<Contestant>& contestants) {
  std::vector<double> result;
  for (const auto& contestant : contestants) {
    const auto& timing = contestant.timing;
    // Without a default to be paired with, plain times must do.
    if (!timing.log_ratios.empty())
      result.push_back(median(timing.log_ratios));
    else
      result.push_back(timing.samples_ns.empty() ? 0 : -std::log(median(timing.samples_ns)));
  }
  return result;
}

/// Gives up those of `alive` that are behind the best of all by more than what single runs differ by (decision 28).
void give_up_behind(std::vector<Contestant>& contestants, std::vector<int>& alive) {
  constexpr double kBehind = 1.2;
  const auto of = scores(contestants);
  double best = -std::numeric_limits<double>::infinity();
  for (const int number : running_from(contestants, 0)) best = std::max(best, of[number]);
  for (const int number : alive) contestants[number].is_left_alone = of[number] < best - std::log(kBehind);
  std::erase_if(alive, [&](int number) { return contestants[number].is_left_alone; });
}

// What a last look at everybody's results takes, which no race may leave out: a call of each, and the comparison.
double seconds_to_collect(const std::vector<Contestant>& contestants) {
  constexpr double kComparing = 2;  // times as long as the call: outputs are read and compared element by element
  double ns = 0;
  for (const auto& contestant : contestants)
    if (contestant.running() && !contestant.timing.samples_ns.empty()) ns += median(contestant.timing.samples_ns);
  return (1 + kComparing) * ns * 1e-9;
}

/// Whoever is running of the first `exempt`, and of `alive`.
std::vector<int> still_racing(const std::vector<Contestant>& contestants, size_t exempt,
                              const std::vector<int>& alive) {
  std::vector<int> numbers;
  for (size_t i = 0; i < exempt; ++i)
    if (contestants[i].running()) numbers.push_back(static_cast<int>(i));
  for (const int number : alive)
    if (contestants[number].running()) numbers.push_back(number);
  return numbers;
}

// Two calls beyond kLongCallNs are as long as what ranks near-equal kernels rightly (decision 26), and the first was
// booked. Whoever falls behind goes at once, and but for the winner among the rivals nobody is looked at again.
void run_long_rounds(Bench& bench, std::vector<Contestant>& contestants, const Race& protocol, Deadline deadline) {
  constexpr int kRounds = 2, kMostOnBusyMachine = 4;
  std::mt19937_64 engine(protocol.seed);
  const auto exempt = static_cast<size_t>(protocol.exempt);
  std::vector<int> alive = running_from(contestants, exempt);
  const bool has_rivals = !alive.empty();
  const int wanted = has_rivals ? kRounds : kFewestOfFirstRung;
  for (int round = 1; round < kMostOnBusyMachine && !deadline.passed(); ++round) {
    give_up_behind(contestants, alive);
    if (has_rivals && alive.empty()) break;
    const auto numbers = still_racing(contestants, exempt, alive);
    if (round >= wanted && fewest_calm(contestants, numbers) >= wanted) break;
    run_round(bench, contestants, numbers, engine);
  }
  for (size_t i = 0; has_rivals && i < exempt; ++i) contestants[i].is_left_alone = true;
  const auto results = scores(contestants);
  const auto winner =
      std::max_element(alive.begin(), alive.end(), [&](int a, int b) { return results[a] < results[b]; });
  for (auto other = alive.begin(); other != alive.end(); ++other) contestants[*other].is_left_alone = other != winner;
}

void run_rungs(Bench& bench, std::vector<Contestant>& contestants, const Race& protocol, Deadline deadline) {
  std::mt19937_64 engine(protocol.seed);
  const auto exempt = static_cast<size_t>(protocol.exempt);
  std::vector<int> alive = running_from(contestants, exempt);
  const int rungs = halving_rungs(static_cast<int>(alive.size()));
  const double total = protocol.seconds_per_kernel * static_cast<double>(running_from(contestants, 0).size());
  for (int rung = 0; rung < rungs; ++rung) {
    const double start = now_seconds();
    const int fewest = rung == 0 ? kFewestOfFirstRung : 1;
    std::vector<int> numbers;
    for (int round = 0; round < kMostRounds && !deadline.passed(); ++round) {
      const double elapsed = now_seconds() - start, wanted = total / rungs;
      const bool calm = fewest_calm(contestants, numbers) >= std::min(round, kCalmRounds);
      if (round >= fewest && elapsed >= (calm ? wanted : kRacePatience * wanted)) break;
      numbers = still_racing(contestants, exempt, alive);
      run_round(bench, contestants, numbers, engine);
    }
    alive = better_half(alive, scores(contestants));
  }
}

// Whether all rounds go with the probes in them, each as long as the fastest kernel or up to 20 ms, or a pass over all
// that the program reads and writes; sizing them takes dozens of such.
bool has_time_for_probes(const ir::Program& program, const std::vector<Contestant>& contestants,
                         const std::vector<double>& call_ns, const Finals& protocol, Deadline deadline) {
  constexpr double kSizing = 20, kLongestProbe = 20e-3;
  constexpr double kBytesPerSecond = 1e10;  // less than the memory of any machine of today
  const double fastest = *std::min_element(call_ns.begin(), call_ns.end()) * 1e-9;
  const double arithmetic = std::min(fastest, kLongestProbe);
  const double streams = std::max(arithmetic, ir::traffic(program).total() / kBytesPerSecond);
  double round = arithmetic + streams;
  for (size_t i = 0, next = 0; i < contestants.size() && next < call_ns.size(); ++i)
    if (contestants[i].running()) round += static_cast<double>(contestants[i].calls) * call_ns[next++] * 1e-9;
  return kSizing * (arithmetic + streams) + protocol.rounds * round < deadline.left();
}

/// Whether there was time for a first call of everybody.
bool all_screened(const std::vector<Contestant>& contestants) {
  return std::all_of(contestants.begin(), contestants.end(), [](const Contestant& contestant) {
    return !contestant.running() || !contestant.timing.samples_ns.empty();
  });
}

/// Everybody as they are, without a last look at what they compute.
Reply untimed(std::vector<Contestant>& contestants) {
  Reply reply;
  for (auto& contestant : contestants) reply.timings.push_back(std::move(contestant.timing));
  return reply;
}

void forget_screening(std::vector<Contestant>& contestants) {
  for (auto& contestant : contestants)
    if (contestant.running()) contestant.timing.samples_ns.clear();
}

}  // namespace

Reply race(const Executor& executor, const Problem& problem, const std::vector<std::filesystem::path>& libraries,
           const Race& protocol, Deadline deadline, double call_seconds, int reply_fd) {
  Bench bench(executor, problem, call_seconds, reply_fd);
  auto contestants = load_contestants(executor, libraries);
  screen(bench, contestants, protocol.exempt, deadline);
  const Deadline last_round{deadline.at - seconds_to_collect(contestants)};
  if (book_screening(contestants))
    run_long_rounds(bench, contestants, protocol, last_round);
  else
    run_rungs(bench, contestants, protocol, last_round);
  keep_calm(contestants, kCalmRounds);
  return collect(bench, contestants);
}

Reply finals(const Executor& executor, const Problem& problem, const std::vector<std::filesystem::path>& libraries,
             const Finals& protocol, Deadline deadline, const Runtime* runtime, double call_seconds, int reply_fd) {
  Bench bench(executor, problem, call_seconds, reply_fd);
  auto contestants = load_contestants(executor, libraries);
  screen(bench, contestants, static_cast<int>(contestants.size()), deadline);
  if (!all_screened(contestants)) {
    forget_screening(contestants);
    return untimed(contestants);
  }
  const Deadline last_round{deadline.at - seconds_to_collect(contestants)};
  std::vector<double> call_ns;
  for (const auto& contestant : contestants)
    if (contestant.running()) call_ns.push_back(median(contestant.timing.samples_ns));
  forget_screening(contestants);
  if (call_ns.empty()) return collect(bench, contestants);
  std::optional<Roofline> roofline;
  if (runtime && has_time_for_probes(problem.program, contestants, call_ns, protocol, last_round))
    roofline.emplace(problem.program, *runtime, *std::min_element(call_ns.begin(), call_ns.end()));
  else if (runtime)
    for (auto& contestant : contestants) contestant.timing.hurried = true;

  // A device's own probes; what it copies moves twice as many bytes.
  const double flops = ir::flops(problem.program);
  const DType type = widest_float(problem.program);
  const bool multiplies = !runtime && executor.flop_ns(flops, type) > 0;
  const auto copied = static_cast<int64_t>(ir::traffic(problem.program).total() / 2);
  const bool copies = !runtime && executor.copy_ns(copied) > 0;

  std::mt19937_64 engine(protocol.seed);
  const double start = now_seconds();
  std::vector<int> numbers = running_from(contestants, 0);
  const auto goes_on = [&](int round) {
    if (last_round.passed()) return false;
    const double elapsed = now_seconds() - start;
    if (round < protocol.rounds || elapsed < protocol.seconds) return true;
    // On only as long as that promises enough calm rounds: of a machine that stays busy patience makes no quiet one.
    const int calm = fewest_calm(contestants, numbers);
    const double longest = kFinalsPatience * protocol.seconds;
    return calm < protocol.rounds && elapsed < longest && calm * longest >= protocol.rounds * elapsed;
  };
  for (int round = 0; goes_on(round) && !numbers.empty(); ++round, numbers = running_from(contestants, 0)) {
    // The probes are two more runners in the round, at a random place of it like everybody.
    const int flop_probe = static_cast<int>(contestants.size()), stream_probe = flop_probe + 1;
    std::vector<Sample> samples(contestants.size());
    Probes probes;
    std::vector<int> order = numbers;
    if (roofline || multiplies) order.push_back(flop_probe);
    if (roofline || copies) order.push_back(stream_probe);
    shuffle(order, engine);
    for (const int number : order) {
      if (number == flop_probe)
        probes.flop_ns = roofline ? roofline->flop_limit_ns() : executor.flop_ns(flops, type);
      else if (number == stream_probe)
        probes.stream_ns = roofline ? roofline->stream_limit_ns() : executor.copy_ns(copied);
      else
        samples[number] = take_sample(bench, contestants[number]);
    }
    share_loss(samples);
    book_round(contestants, numbers, samples, roofline || copies || multiplies ? std::optional(probes) : std::nullopt);
  }
  keep_calm(contestants, protocol.rounds);
  return collect(bench, contestants);
}

}  // namespace tile_tune::search
