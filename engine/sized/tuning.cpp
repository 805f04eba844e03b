#include "engine/sized/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/sized/sized_race.h"
#include "engine/sized/sizes.h"
#include "engine/tune.h"
#include "search/space/space.h"

namespace tile_tune::engine {

namespace {

/// Building and racing some fifteen kernels at a point took 0.5 s for products of 64 x 64 by up to 512 (two Zen 4
/// cores); larger ones take longer.
constexpr double kSecondsAPoint = 1;
constexpr double kShareOfSearch = 2.0 / 3;
constexpr size_t kMostSearched = 8, kMostTimed = 40;

using Points = std::vector<std::vector<int64_t>>;

/// All that follows from what the searches found.
class Candidates {
 public:
  Candidates(const SizedWorkload& workload, const codegen::Target& target, codegen::SizedEntry generic,
             const std::vector<SearchedPoint>& searched)
      : workload_(workload), target_(target), entry_(std::move(generic)), searched_(searched) {}

  /// Kernels for many sizes into the entry, before the generic one: of each winner that computes all sizes, and that
  /// which, with tiles that are moved back at the border, computes those as large as its tiles.
  Result<void> add_many() {
    if (entry_.members.empty()) return {};
    codegen::EntryMember generic = std::move(entry_.members.back());
    entry_.members.clear();
    for (const auto& point : searched_)
      for (const bool guarded : {false, true}) TILE_TUNE_CHECK(add(point.at, point.schedule, guarded, generic));
    // Of the default schedule, what computes large sizes alone.
    const search::Space space(workload_.top.program, target_, search::Dimensions::Apart);
    TILE_TUNE_CHECK(add(workload_.program.top(), space.default_schedule(), false, generic));
    entry_.members.push_back(std::move(generic));
    return {};
  }

  /// Kernels for this point alone: of its own winner, else of the nearest one's as it fits there, and of the default.
  Result<std::vector<codegen::EntryMember>> own(const std::vector<int64_t>& at) const {
    TILE_TUNE_TRY(program, entry_.program.at(at));
    const search::Space space(program, target_);
    const auto& near = nearest(at);
    std::vector<codegen::Schedule> schedules;
    if (near.at == at)
      schedules.push_back(near.schedule);
    else
      schedules = space.transfer(near.program, near.schedule);
    if (schedules.size() > 1) schedules.resize(1);
    const auto plain = space.default_schedule();
    if (schedules.empty() || schedules.front() != plain) schedules.push_back(plain);
    std::vector<codegen::EntryMember> members;
    for (auto& schedule : schedules) members.push_back({at, true, program, std::move(schedule)});
    return members;
  }

  /// What stands at a point that was not timed.
  Result<TimedPoint> untimed(const std::vector<int64_t>& at) const {
    TILE_TUNE_TRY(program, entry_.program.at(at));
    const search::Space space(program, target_);
    return TimedPoint{at, {}, {{at, true, program, space.default_schedule()}}, {1}};
  }

  codegen::SizedEntry& entry() { return entry_; }

 private:
  Result<void> add(const std::vector<int64_t>& at, const codegen::Schedule& schedule, bool guarded,
                   const codegen::EntryMember& generic) {
    auto member = codegen::member_for_many(entry_, at, schedule, guarded);
    const auto is_same = [&](const auto& other) {
      return other.schedule == member->schedule && (other.at == member->at || guarded);
    };
    if (!member || is_same(generic) || std::any_of(entry_.members.begin(), entry_.members.end(), is_same)) return {};
    member->record = {{"tuned_at", at}};
    entry_.members.push_back(std::move(*member));
    return {};
  }

  const SearchedPoint& nearest(const std::vector<int64_t>& at) const {
    const auto distance = [&](const SearchedPoint& point) {
      double sum = 0;
      for (size_t k = 0; k < at.size(); ++k)
        sum += std::abs(std::log2(static_cast<double>(point.at[k]) / static_cast<double>(at[k])));
      return sum;
    };
    return *std::min_element(searched_.begin(), searched_.end(),
                             [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  }

  const SizedWorkload& workload_;
  const codegen::Target& target_;
  codegen::SizedEntry entry_;
  const std::vector<SearchedPoint>& searched_;
};

Result<std::optional<std::vector<SearchedPoint>>> search_all(const SizedWorkload& workload,
                                                             const codegen::Target& target, TuningRequest request,
                                                             const SizedPlan& plan, const Session& session,
                                                             const Watch& watch) {
  std::vector<SearchedPoint> searched;
  request.trials = plan.each.trials;
  request.seconds = plan.each.seconds;
  for (const auto& at : points_to_search(workload.program.sizes, plan.searched)) {
    TILE_TUNE_TRY(one, workload.at(at));
    session.report.notice(fmt::format("tuning {}", point_text(workload.program.sizes, at)));
    const Watch own{now_seconds(), watch.stop, watch.progress, watch.onlooker, watch.last};
    ir::Sizes sizes = workload.program.fixed;
    for (size_t k = 0; k < at.size(); ++k) sizes[workload.program.sizes[k].name] = at[k];
    // Winners become kernels for many sizes as well, whose dimensions are as written.
    const Task task{one, target, request, small_variant_of(workload.program.symbolic, sizes, one, target),
                    search::Dimensions::Apart};
    auto tuned = tune(task, session, own);
    if (watch.stop) return std::nullopt;
    if (!tuned) return tl::unexpected(tuned.error());
    const auto& report = tuned->report;
    searched.push_back({at, one.program, report.winner ? report.winner->schedule : report.default_schedule,
                        report.winner ? report.winner->measurement.ratio : 1, report.trials});
  }
  return searched;
}

}  // namespace

SizedPlan plan_sized(const std::vector<codegen::EntrySize>& sizes, const search::Budget& budget) {
  SizedPlan plan;
  const double seconds = budget.seconds.value_or(0) * kShareOfSearch;
  const auto affordable =
      budget.trials ? static_cast<size_t>(*budget.trials / kLeastTrials) : static_cast<size_t>(seconds / kLeastSeconds);
  plan.searched = std::clamp<size_t>(affordable, 2, kMostSearched);
  const size_t points = points_to_search(sizes, plan.searched).size();
  plan.timed = budget.trials ? static_cast<size_t>(*budget.trials) / 2
                             : static_cast<size_t>((*budget.seconds - seconds) / kSecondsAPoint);
  plan.timed = std::clamp(plan.timed, 2 * plan.searched, kMostTimed);
  if (budget.trials) plan.each.trials = std::max(1, *budget.trials / static_cast<int>(points));
  if (budget.seconds) plan.each.seconds = seconds / static_cast<double>(points);
  return plan;
}

Result<std::optional<SizedTuned>> tune_sized(const SizedWorkload& workload, const codegen::Target& target,
                                             const TuningRequest& request, const Session& session, const Watch& watch) {
  TILE_TUNE_TRY(generic, generic_entry(workload, target));
  TuningRequest own = request;
  own.seed = request.seed.value_or(std::random_device()());
  const search::Budget budget = wanted_budget(request);
  const SizedPlan plan = plan_sized(workload.program.sizes, budget);
  search::Deadline end, last = watch.last;
  if (budget.seconds) {
    end = {watch.began + *budget.seconds};
    last = search::earlier(last, {end.at + overtime(*budget.seconds)});
  }
  const Watch inner{watch.began, watch.stop, watch.progress, watch.onlooker, last};
  TILE_TUNE_TRY(searched, search_all(workload, target, own, plan, session, inner));
  if (!searched) return std::nullopt;
  Candidates candidates(workload, target, std::move(generic), *searched);
  TILE_TUNE_CHECK(candidates.add_many());

  search::SizeContestOptions options{
      {session.executable, "worker"}, target, *own.seed, {&watch.stop, last}, watch.onlooker};
  const auto contest = search::SizeContest::start(std::move(options));
  if (!contest && !last.passed()) return tl::unexpected(contest.error());
  const auto goes_on = [&](const std::vector<int64_t>& at) {
    if (end.passed()) return false;
    watch.onlooker.tell_doing(fmt::format("timing at {}", point_text(workload.program.sizes, at)));
    session.report.verbose(fmt::format("timing {}", point_text(workload.program.sizes, at)));
    return true;
  };
  const auto points = points_to_time(workload.program.sizes, points_to_search(workload.program.sizes, plan.searched),
                                     has_range(workload.program.sizes) ? plan.timed : 0);
  const auto own_kernels = [&](const std::vector<int64_t>& at) { return candidates.own(at); };
  auto race = contest ? race_sized(**contest, candidates.entry(), own_kernels, points, goes_on)
                      : Result<SizedRace>(SizedRace());
  if (watch.stop) return std::nullopt;
  if (!race) return tl::unexpected(race.error());
  SizedTuned tuned{{}, std::move(*searched), race->points.size(), points.size(), {}, {}, *own.seed, 0};
  // Where no kernel serves several sizes, each that is listed needs one all the same.
  if (!race->points.empty() && candidates.entry().members.empty())
    for (size_t i = race->points.size(); i < points.size(); ++i) {
      TILE_TUNE_TRY(point, candidates.untimed(points[i]));
      race->points.push_back(std::move(point));
    }
  if (!race->points.empty()) {
    tuned.entry = choose_members(std::move(candidates.entry()), std::move(race->points));
    TILE_TUNE_TRY(id, store_entry(workload, tuned.entry, *own.seed, target, session));
    tuned.session = std::move(id);
  }
  TILE_TUNE_TRY(path, session.database());
  tuned.database = path.string();
  tuned.seconds = now_seconds() - watch.began;
  return tuned;
}

}  // namespace tile_tune::engine
