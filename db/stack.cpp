#include "db/stack.h"

#include <tuple>

#include "db/insert.h"

namespace tile_tune::db {

int staleness(const BestRow& best) {
  if (!best.same_target) return 2;
  return best.same_tool ? 0 : 1;
}

bool refutes(const TrialRow& verdict) { return !may_be_chosen(verdict); }

Result<std::optional<StoredTrial>> refutation(const std::vector<Database*>& stack, const ProgramRow& program,
                                              const TargetRow& target, const ToolRow& tool,
                                              const std::string& schedule_id) {
  const auto when = [](const StoredTrial& one) { return std::tie(one.trial.created_ms, one.id); };
  std::optional<StoredTrial> latest;
  for (Database* database : stack) {
    TILE_TUNE_TRY(verdict, database->verdict(program, target, tool, schedule_id));
    if (verdict && (!latest || when(*latest) < when(*verdict))) latest = std::move(verdict);
  }
  if (latest && !refutes(latest->trial)) return std::nullopt;
  return latest;
}

std::vector<Database*> each_of(std::vector<Database>& stack) {
  std::vector<Database*> all;
  for (Database& database : stack) all.push_back(&database);
  return all;
}

Result<std::optional<BestRow>> best_of(std::vector<Database>& stack, const ProgramRow& program, const TargetRow& target,
                                       const ToolRow& tool, const Acceptable& acceptable) {
  std::optional<BestRow> chosen;
  const auto may_be_taken = [&](const BestRow& best) -> Result<bool> {
    TILE_TUNE_TRY(refuted, refutation(each_of(stack), program, target, tool, best.schedule_id));
    if (refuted) return false;
    return acceptable ? acceptable(best) : Result<bool>(true);
  };
  for (Database& database : stack) {
    TILE_TUNE_TRY(best, database.best(program, target, tool, may_be_taken));
    if (best && (!chosen || staleness(*best) < staleness(*chosen))) chosen = std::move(best);
  }
  return chosen;
}

}  // namespace tile_tune::db
