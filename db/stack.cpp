#include "db/stack.h"

namespace tile_tune::db {

int staleness(const BestRow& best) {
  if (!best.same_target) return 2;
  return best.same_tool ? 0 : 1;
}

Result<std::optional<BestRow>> best_of(std::vector<Database>& stack, const ProgramRow& program, const TargetRow& target,
                                       const ToolRow& tool, const Acceptable& acceptable) {
  std::optional<BestRow> chosen;
  for (Database& database : stack) {
    const auto may_be_taken = [&](const BestRow& best) -> Result<bool> {
      for (Database& other : stack) {
        if (&other == &database) continue;
        TILE_TUNE_TRY(refuted, other.refutation(program, target, tool, best.schedule_id));
        if (refuted) return false;
      }
      return acceptable ? acceptable(best) : Result<bool>(true);
    };
    TILE_TUNE_TRY(best, database.best(program, target, tool, may_be_taken));
    if (best && (!chosen || staleness(*best) < staleness(*chosen))) chosen = std::move(best);
  }
  return chosen;
}

}  // namespace tile_tune::db
