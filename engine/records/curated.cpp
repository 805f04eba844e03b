#include "engine/records/curated.h"

#include "db/stack.h"
#include "engine/records/tuned_record.h"
#include "engine/session/default_database.h"

namespace tile_tune::engine {

Result<std::optional<db::BestRow>> curated_record(const Workload& workload, const codegen::Target& target,
                                                  std::vector<db::Database>& stack, const Session& session) {
  const auto file = curated_database(session.executable);
  if (!file) return std::nullopt;
  auto curated = db::Database::open(*file, db::Mode::ReadOnly);
  if (!curated) {
    Diagnostic& error = curated.error();
    error.severity = Severity::Warning;
    session.report.diagnostic(error);
    return std::nullopt;
  }
  const auto may_be_taken = [&](const db::BestRow& best) -> Result<bool> {
    auto all = db::each_of(stack);
    all.push_back(&*curated);
    TILE_TUNE_TRY(refuted, db::refutation(all, workload.row, target_row(target), tool_row(), best.schedule_id));
    return !refuted && fitting_for(best.schedule_json, workload.program, target).has_value();
  };
  return curated->best(workload.row, target_row(target), tool_row(), may_be_taken);
}

}  // namespace tile_tune::engine
