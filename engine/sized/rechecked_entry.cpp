#include "engine/sized/rechecked_entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/target/host.h"
#include "engine/recheck/recheck.h"
#include "engine/sized/sized_race.h"
#include "engine/sized/sizes.h"
#include "search/space/space.h"

namespace tile_tune::engine {

namespace {

/// About so many points of ranges besides those the stored kernels were made at; each takes half a second or more.
constexpr size_t kTimed = 20;

using Points = std::vector<std::vector<int64_t>>;

bool is_same(const codegen::EntryMember& a, const codegen::EntryMember& b) {
  return a.only == b.only && a.at == b.at && a.schedule == b.schedule;
}

/// The stored kernels for many sizes, then the default schedule's, which serves all; none where that is not to be had.
Result<codegen::SizedEntry> candidates_of(const SizedWorkload& workload, const codegen::SizedEntry& stored,
                                          const codegen::Target& target) {
  TILE_TUNE_TRY(entry, generic_entry(workload, target));
  if (entry.members.empty()) return entry;
  const codegen::EntryMember generic = std::move(entry.members.back());
  entry.members.clear();
  for (const auto& member : stored.members)
    if (!member.only && member.schedule != generic.schedule) entry.members.push_back(member);
  entry.members.push_back(generic);
  return entry;
}

/// The default schedule's kernel for a point, then the stored ones. None where the stored entry has none and kernels
/// for many sizes serve the point.
Result<std::vector<codegen::EntryMember>> own_kernels(const codegen::SizedEntry& stored,
                                                      const codegen::SizedEntry& candidates,
                                                      const codegen::Target& target, const std::vector<int64_t>& at) {
  TILE_TUNE_TRY(program, candidates.program.at(at));
  std::vector<codegen::EntryMember> own{{at, true, program, search::Space(program, target).default_schedule()}};
  for (const auto& member : stored.members)
    if (member.only && member.at == at && member.schedule != own.front().schedule) own.push_back(member);
  const bool is_stored = std::any_of(stored.members.begin(), stored.members.end(),
                                     [&](const auto& member) { return member.only && member.at == at; });
  if (!is_stored && !candidates.members.empty()) own.clear();
  return own;
}

Points points_of(const SizedWorkload& workload, const codegen::SizedEntry& stored) {
  const auto& sizes = workload.program.sizes;
  Points points = points_to_search(sizes, 2);
  for (const auto& member : stored.members)
    if (member.only && std::find(points.begin(), points.end(), member.at) == points.end()) points.push_back(member.at);
  return points_to_time(sizes, points, has_range(sizes) ? kTimed : 0);
}

/// True if anything of the stored entry besides its kernel for all sizes was chosen, or there is nothing else in it.
bool holds(const codegen::SizedEntry& stored, const codegen::SizedEntry& chosen) {
  const bool has_generic = !stored.table.empty();
  const auto last = stored.members.end() - (has_generic ? 1 : 0);
  return last == stored.members.begin() || std::any_of(stored.members.begin(), last, [&](const auto& member) {
           return std::any_of(chosen.members.begin(), chosen.members.end(),
                              [&](const auto& one) { return is_same(member, one); });
         });
}

}  // namespace

Result<std::optional<StoredEntry>> rechecked_entry(const SizedWorkload& workload, const StoredEntry& stored,
                                                   const codegen::Target& target, const Session& session,
                                                   const std::atomic<bool>& stop) {
  TILE_TUNE_CHECK(codegen::check_runs_here(target));
  TILE_TUNE_TRY(candidates, candidates_of(workload, stored.entry, target));
  TILE_TUNE_TRY(contest, search::SizeContest::start({{session.executable, "worker"}, target, kRecheckSeed, {&stop}}));
  const auto own = [&](const std::vector<int64_t>& at) { return own_kernels(stored.entry, candidates, target, at); };
  const auto goes_on = [&](const std::vector<int64_t>& at) {
    session.report.verbose(fmt::format("timing {}", point_text(workload.program.sizes, at)));
    return true;
  };
  TILE_TUNE_TRY(race, race_sized(*contest, candidates, own, points_of(workload, stored.entry), goes_on));
  auto chosen = choose_members(std::move(candidates), std::move(race.points));
  if (!holds(stored.entry, chosen)) {
    session.report.warn("not-rechecked",
                        fmt::format("the stored kernels of {} do not hold here: {}", described(workload),
                                    race.fault.empty() ? "none is faster than the default schedule" : race.fault));
    const auto refuted = refute_entry(workload, stored.session, target, session);
    if (!refuted) warn_of_unstored(refuted.error(), session.report);
    return std::nullopt;
  }
  const auto kept = store_entry(workload, chosen, kRecheckSeed, target, session, true);
  if (!kept) warn_of_unstored(kept.error(), session.report);
  return StoredEntry{std::move(chosen), "rechecked", target.threads};
}

}  // namespace tile_tune::engine
