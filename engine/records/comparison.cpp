#include "engine/records/comparison.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "db/identity.h"

namespace tile_tune::engine {

namespace {

bool is_timed(const db::TrialRow& trial) { return trial.outcome == "ok" && trial.ratio > 0 && trial.ratio_lo > 0; }

/// The last race between two schedules among finals in the order of Database::finals().
std::optional<HeadToHead> last_race(const std::vector<db::StoredTrial>& finals, const std::string& a,
                                    const std::string& b) {
  std::optional<HeadToHead> last;
  std::map<std::string, const db::StoredTrial*> field;  // of one race, by schedule
  const db::StoredTrial* before = nullptr;
  for (const auto& one : finals) {
    const bool goes_on =
        before != nullptr && before->session == one.session && before->trial.sequence + 1 == one.trial.sequence;
    if (!goes_on) field.clear();
    before = &one;
    if (is_timed(one.trial)) field[one.trial.schedule_id] = &one;
    const auto mine = field.find(a), theirs = field.find(b);
    if (mine != field.end() && theirs != field.end())
      last = HeadToHead{{}, mine->second->trial, theirs->second->trial, one.session};
  }
  return last;
}

}  // namespace

std::string faster(const ComparedProgram& line) {
  if (line.same_schedule()) return "neither";
  if (!line.race) return "";
  const auto& [database, a, b, session] = *line.race;
  if (a.ratio_lo > b.ratio_hi) return "a";
  return b.ratio_lo > a.ratio_hi ? "b" : "neither";
}

Result<std::vector<ComparedProgram>> compare(OpenDatabase& a, OpenDatabase& b) {
  std::vector<ComparedProgram> lines;
  std::map<std::string, size_t> places;
  for (OpenDatabase* side : {&a, &b}) {
    TILE_TUNE_TRY(rows, side->database.list());
    for (auto& row : rows) {
      if (!row.best) continue;
      const std::string key = db::workload_id(row.program) + db::target_id(row.target);
      const auto [found, is_new] = places.try_emplace(key, lines.size());
      if (is_new) lines.push_back({row.program, row.target, {}, {}, {}});
      (side == &a ? lines[found->second].a : lines[found->second].b) = std::move(row.best);
    }
  }
  for (ComparedProgram& line : lines)
    for (OpenDatabase* side : {&a, &b}) {
      if (!line.a || !line.b || line.same_schedule()) continue;
      TILE_TUNE_TRY(finals, side->database.finals(line.program, line.target));
      auto race = last_race(finals, line.a->schedule_id, line.b->schedule_id);
      if (!race || (line.race && line.race->a.created_ms >= race->a.created_ms)) continue;
      race->database = side->path;
      line.race = std::move(race);
    }
  std::stable_sort(lines.begin(), lines.end(), [](const ComparedProgram& one, const ComparedProgram& other) {
    return std::tie(one.program.name, one.program.flops) < std::tie(other.program.name, other.program.flops);
  });
  return lines;
}

}  // namespace tile_tune::engine
