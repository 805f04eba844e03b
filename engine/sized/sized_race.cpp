#include "engine/sized/sized_race.h"

#include <fmt/format.h>

#include <cmath>

#include "search/timing/statistics.h"

namespace tile_tune::engine {

namespace {

double speed_of(const search::Timing& timing) {
  if (timing.outcome != search::Outcome::Ok || timing.log_ratios.empty()) return 0;
  return std::exp(search::median(timing.log_ratios));
}

bool is_faulty(const search::Timing& timing) {
  return timing.outcome != search::Outcome::Ok && timing.outcome != search::Outcome::Slow;
}

std::vector<search::SizeContest::Source> sources_of(const std::vector<codegen::EntryMember>& members) {
  std::vector<search::SizeContest::Source> sources;
  for (const auto& member : members) sources.push_back({member.program, member.schedule});
  return sources;
}

class Racer {
 public:
  Racer(search::SizeContest& contest, const codegen::SizedEntry& entry)
      : contest_(contest), entry_(entry), faulty_(entry.members.size(), false) {}

  Result<void> build() {
    TILE_TUNE_TRY(numbers, contest_.build(sources_of(entry_.members)));
    many_ = std::move(numbers);
    return {};
  }

  Result<TimedPoint> time(const std::vector<int64_t>& at, std::vector<codegen::EntryMember> own) {
    TimedPoint point{at, std::vector<double>(entry_.members.size(), 0), {}, {}};
    TILE_TUNE_TRY(program, entry_.program.at(at));
    TILE_TUNE_TRY(numbers, contest_.build(sources_of(own)));
    std::vector<size_t> who, kernels;  // places in the entry, the generic one first
    for (size_t i = entry_.members.size(); i-- > 0;) {
      const auto& member = entry_.members[i];
      if (faulty_[i] || !codegen::serves(member.program, member.schedule, at)) continue;
      who.push_back(i);
      kernels.push_back(many_[i]);
    }
    kernels.insert(kernels.end(), numbers.begin(), numbers.end());
    TILE_TUNE_TRY(timings, contest_.time(program, kernels));
    for (const auto& timing : timings)
      if (fault_.empty() && is_faulty(timing)) fault_ = search::outcome_name(timing.outcome);
    for (size_t n = 0; n < who.size(); ++n) {
      if (is_faulty(timings[n])) TILE_TUNE_CHECK(blame(who[n], timings[n]));
      point.many[who[n]] = speed_of(timings[n]);
    }
    point.own = std::move(own);
    for (size_t n = who.size(); n < timings.size(); ++n) point.own_speeds.push_back(speed_of(timings[n]));
    return point;
  }

  const std::vector<bool>& faulty() const { return faulty_; }
  const std::string& fault() const { return fault_; }

 private:
  Result<void> blame(size_t member, const search::Timing& timing) {
    faulty_[member] = true;
    if (member + 1 < entry_.members.size()) return {};
    return fail(ErrorClass::Verification, "generic-failed",
                fmt::format("the kernel of {} for all sizes does not work here: {} ({})", entry_.program.symbolic.name,
                            timing.reason, search::outcome_name(timing.outcome)));
  }

  search::SizeContest& contest_;
  const codegen::SizedEntry& entry_;
  std::vector<size_t> many_;  // numbers in the contest
  std::vector<bool> faulty_;
  std::string fault_;
};

}  // namespace

Result<SizedRace> race_sized(search::SizeContest& contest, const codegen::SizedEntry& candidates, const OwnKernels& own,
                             const std::vector<std::vector<int64_t>>& points, const GoesOn& goes_on) {
  Racer racer(contest, candidates);
  SizedRace race;
  const auto built = racer.build();
  if (!built && built.error().code == "stopped") return race;
  TILE_TUNE_CHECK(built);
  for (const auto& at : points) {
    if (!goes_on(at)) break;
    TILE_TUNE_TRY(kernels, own(at));
    auto point = racer.time(at, std::move(kernels));
    if (!point && point.error().code == "stopped") break;
    if (!point) return tl::unexpected(point.error());
    race.points.push_back(std::move(*point));
  }
  for (auto& point : race.points)
    for (size_t i = 0; i < point.many.size(); ++i)
      if (racer.faulty()[i]) point.many[i] = 0;
  race.fault = racer.fault();
  return race;
}

}  // namespace tile_tune::engine
