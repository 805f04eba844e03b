// The arithmetic of timing: pure functions, repeatable for a seed.
//
// Ranking uses medians of paired log-ratios only: under load the minimum crowned an 81 % slower kernel in up to
// 12 % of runs and the mean picked the true best in 28-56 %.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace tile_tune::search {

/// Linear interpolation between order statistics (Hyndman and Fan's type 7); `values` must not be empty.
double quantile(std::vector<double> values, double q);
double median(std::vector<double> values);

struct Interval {
  double lo = 0, hi = 0;
};
/// 95 % percentile-bootstrap interval of the median.
Interval bootstrap_median(const std::vector<double>& values, uint64_t seed);

/// Of fewer values no 95 % interval of their median can be made: all of n lie on one side of it with a chance of
/// 2^(1-n), and a bootstrap interval of one value has no width at all.
inline constexpr size_t kFewestForInterval = 6;

/// What differences of single rounds mean nothing beyond, on a shared machine (the same binary ran at 146 or 240
/// GFLOP/s: decision 28), and how few rounds may still be luck whatever they say.
inline constexpr double kSingleRound = 0.85;
inline constexpr size_t kFewestToCompare = 3;

/// Rounds of finals and of comparisons with other makers' kernels: at least so many (chosen: an interval of a few per
/// cent where times scatter by a tenth), and on until finals have taken so long.
inline constexpr int kFewestRounds = 31;
inline constexpr double kFinalsSeconds = 2;

/// Where the speed relative to another lies that rounds gave as log(its time / this one's): the 95 % interval of their
/// median. Of too few for that, all that they gave and 15 % beyond; of fewer than three, nothing is known.
std::optional<Interval> ratio_interval(const std::vector<double>& log_ratios, uint64_t seed);

/// Calls that make one sample long enough for the clock: at least kMinSampleNs together.
inline constexpr double kMinSampleNs = 200e3;
int64_t calls_per_sample(double call_ns);

/// Rungs successive halving needs until one of `candidates` is left, at least 1: ceil(log2(candidates)).
int halving_rungs(int candidates);
/// The better half of `alive`, rounded up, best first: scores[i] is the score of candidate i, higher is better; ties go
/// to the lower number.
std::vector<int> better_half(const std::vector<int>& alive, const std::vector<double>& scores);

/// A random order, the same for an engine's state on every platform.
void shuffle(std::vector<int>& items, std::mt19937_64& engine);

}  // namespace tile_tune::search
