#include "engine/records/rung.h"

#include "db/identity.h"
#include "db/stack.h"
#include "engine/records/workload.h"
#include "engine/records/schedule_choice.h"

namespace tile_tune::engine {

Result<std::string> rung_here(std::vector<OpenDatabase>& stack, const db::ListRow& row, const Session& session) {
  const auto target = session.target();
  if (!row.best || !target) return std::string();
  db::BestRow best = *row.best;
  const db::TargetRow here = target_row(*target);
  if (best.target.text() != here.text() || best.target.machine.threads != target->threads)
    return std::string("of another target");
  best.same_target = db::target_id(best.target) == db::target_id(here);
  best.same_tool = db::tool_id(best.tool) == db::tool_id(tool_row());
  std::vector<db::Database*> databases;
  for (auto& one : stack) databases.push_back(&one.database);
  TILE_TUNE_TRY(refuted, db::refutation(databases, row.program, here, tool_row(), best.schedule_id));
  if (!refuted) return rung_of(best);
  const db::TrialRow& trial = refuted->trial;
  return "not taken: " + (trial.outcome == "ok" ? "slower than the default" : trial.outcome + ", " + trial.reason);
}

}  // namespace tile_tune::engine
