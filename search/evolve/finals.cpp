#include "search/evolve/finals.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/timing/statistics.h"

namespace tile_tune::search {
namespace {

// Whoever was slower than the default by more than single races may be off will not beat it, and costs 31 rounds of its
// time.
constexpr double kNoChance = kSingleRound;

// Whether a finalist's interval of times to another's excludes 1, from the rounds in which both ran: the default's time
// cancels out. (After a crash each has a race of its own with the default, which then stands between the two.) Where
// one was put out before the end rounds are no pairs.
bool is_faster(const Measurement& one, const Measurement& other) {
  const auto& mine = one.log_ratios;
  const auto& theirs = other.log_ratios;
  if (mine.empty() || mine.size() != theirs.size()) return one.ratio_lo > other.ratio_hi;
  std::vector<double> differences;
  for (size_t round = 0; round < mine.size(); ++round) differences.push_back(mine[round] - theirs[round]);
  const auto interval = ratio_interval(differences, 0);
  return interval && interval->lo > 1;
}

// One of two cores taken away is a factor of 1.8: 14.7 and 26.1 us for the default of an MLP (Zen 4).
constexpr double kAtOdds = 1.5;

}  // namespace

std::vector<Member> finalists(const Population& population, const std::string& default_key,
                              const std::string& previous_key, int challengers) {
  std::vector<Member> chosen;
  const Member* standard = find(population, default_key);
  if (!standard) return chosen;
  chosen.push_back(*standard);
  const Member* previous = find(population, previous_key);
  if (previous && previous_key != default_key) chosen.push_back(*previous);
  for (const Member& member : population.ranked) {
    if (challengers == 0 || member.ratio < kNoChance) break;
    if (member.key == default_key || member.key == previous_key) continue;
    chosen.push_back(member);
    --challengers;
  }
  return chosen;
}

size_t decide(const std::vector<Measurement>& finals, bool with_previous) {
  const auto ok = [&](size_t i) { return finals[i].outcome == Outcome::Ok; };
  const bool previous_stands = with_previous && finals.size() > 1 && ok(1) && !is_slower(finals[1]);
  const size_t standing = previous_stands ? 1 : 0;
  size_t winner = standing;
  for (size_t i = 1; i < finals.size(); ++i) {
    if (i == standing || !ok(i) || finals[i].ratio_lo <= 1) continue;
    if (previous_stands && !is_faster(finals[i], finals[1])) continue;
    if (winner == standing || finals[i].ratio > finals[winner].ratio) winner = i;
  }
  return winner;
}

bool is_slower(const Measurement& measurement) { return measurement.ratio_hi > 0 && measurement.ratio_hi < 1; }

size_t rounds_of(const std::vector<Measurement>& finals) {
  size_t fewest = std::numeric_limits<size_t>::max();
  for (const Measurement& measurement : finals)
    if (measurement.outcome == Outcome::Ok) fewest = std::min(fewest, measurement.log_ratios.size());
  return fewest;
}

bool is_far_ahead(const Measurement& trial, double standing_ratio) {
  const auto& ratios = trial.log_ratios;
  const auto interval = ratio_interval(ratios, 0);
  if (trial.outcome != Outcome::Ok || !interval) return false;
  // Of a few rounds the interval is as much wider already.
  return interval->lo > (ratios.size() < kFewestForInterval ? standing_ratio : standing_ratio / kSingleRound);
}

Measurement with_interval(Measurement trial) {
  const auto interval = ratio_interval(trial.log_ratios, 0).value_or(Interval());
  trial.ratio_lo = interval.lo;
  trial.ratio_hi = interval.hi;
  trial.roof_unknown = true;
  return trial;
}

Measurement as_default(Measurement trial) {
  trial.ratio = trial.ratio_lo = trial.ratio_hi = 1;
  trial.roof_unknown = true;
  return trial;
}

bool at_odds(const Measurement& final_default, const Measurement& trial) {
  const double then = trial.median_ns, now = final_default.median_ns;
  return final_default.outcome == Outcome::Ok && then > 0 && now > 0 && (now > kAtOdds * then || then > kAtOdds * now);
}

}  // namespace tile_tune::search
