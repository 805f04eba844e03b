// Calling kernels against the clock; what races and finals share.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "search/judge/executor.h"
#include "search/timing/deadline.h"
#include "search/timing/threads.h"

namespace tile_tune::search {

/// A call this long says enough by itself (decision 26).
inline constexpr double kLongCallNs = 50e6;

struct Sample {
  double ns = 0;  // mean of the calls
  int code = 0;   // of the first call that failed, which ends the sample
  // One of our threads had no core for some of it, though it could have run, or the device was held back.
  bool switched = false;
  double launch_ns = 0;  // of a call, by the host's clock, where `ns` is by a device's
};

/// Kernels of one problem on one memory, so that addresses and alignment are the same for all.
class Bench {
 public:
  Bench(const Executor& executor, const Problem& problem, double call_seconds, int reply_fd);
  /// `calls` calls back to back, or one where the program is judged with cold caches. In/out outputs have their initial
  /// value before the first. Constants are packed before the first of all, so the kernel must stay where it is.
  Sample sample(const PreparedKernel& kernel, int64_t calls);
  /// Runs once more and compares: what was right before the race must still be right after it.
  Reply check(const PreparedKernel& kernel);
  const Executor& executor() const { return executor_; }

 private:
  Call& call_of(const PreparedKernel& kernel);

  const Executor& executor_;
  const Problem& problem_;
  double call_seconds_;
  std::unique_ptr<Memory> memory_;
  std::map<const PreparedKernel*, std::unique_ptr<Call>> calls_;
  CoreWatch cores_;
};

struct Contestant {
  Result<std::unique_ptr<PreparedKernel>> kernel;
  int64_t calls = 1;  // of a sample
  Timing timing;
  std::vector<bool> calm = {};  // one a round: no core was lost in its sample, nor in the default's (finals: in any)
  Sample screening = {};        // what its first calls took; 0 ns: none was made
  bool is_left_alone = false;   // in a race of long calls: what it computes is not looked at again
  bool running() const { return timing.outcome == Outcome::Ok; }
};

/// Loads each library; those that do not load are out.
std::vector<Contestant> load_contestants(const Executor& executor, const std::vector<std::filesystem::path>& libraries);

/// Takes a sample and books it; a failing call puts the contestant out, and the sample's time is 0.
Sample take_sample(Bench& bench, Contestant& contestant);

/// What the roofline probes say a call would take at their limits.
struct Probes {
  double flop_ns = 0, stream_ns = 0;
};

/// Books a round of `numbers` against contestant 0 and against its probes; `samples`: one a contestant.
void book_round(std::vector<Contestant>& contestants, const std::vector<int>& numbers,
                const std::vector<Sample>& samples, const std::optional<Probes>& probes);

/// If one contestant lost its core in the round, marks it as disturbed for all, so that any two can be compared round
/// by round.
void share_loss(std::vector<Sample>& samples);

/// The fewest calm rounds that one of `numbers` has.
int fewest_calm(const std::vector<Contestant>& contestants, const std::vector<int>& numbers);

/// Drops the rounds of each contestant in which the system took a core, if at least `enough` others remain.
void keep_calm(std::vector<Contestant>& contestants, int enough);

/// True if a timing is not to be believed: a thread had no core in more than a quarter of the samples, or the
/// interquartile range of the times, or of their ratios to the default's, is over 15 % (single-run
/// differences below that mean nothing on a shared machine). Both, since the default's ratios are all
/// 1, and what slows everybody alike leaves ratios as they are.
bool is_disturbed(const Timing& timing);

/// Timings of everybody, after a last look at whether those still in are still right. Crash: one of them left the
/// device to nobody in this process, so that nothing is known of the others.
Reply collect(Bench& bench, std::vector<Contestant>& contestants);

/// First calls of every running contestant: warms it up, and sets how many calls make a sample. One several times
/// slower than the best is out, unless it is among the first `exempt`. Those whose turn comes after the deadline are
/// not called at all.
void screen(Bench& bench, std::vector<Contestant>& contestants, int exempt, Deadline deadline);

/// Whether a call is so long that screening was the first round, which is booked then; else its samples are dropped.
bool book_screening(std::vector<Contestant>& contestants);

}  // namespace tile_tune::search
