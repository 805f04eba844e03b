#include "engine/tuning/knowledge.h"

#include <utility>

#include "engine/records/curated.h"
#include "engine/records/network_steps.h"
#include "engine/records/transfer.h"
#include "engine/records/tuned_record.h"
#include "engine/records/tuning_store.h"

namespace tile_tune::engine {

namespace {

/// The first is written, the others are read: who shares one may have a newer tile-tune already.
Result<std::vector<db::Database>> open_databases(const Session& session) {
  TILE_TUNE_TRY(paths, session.databases());
  std::vector<db::Database> databases;
  for (const auto& path : paths) {
    auto database = db::Database::open(path, databases.empty() ? db::Mode::ReadWrite : db::Mode::ReadOnly);
    if (!database && database.error().code == "database-newer" && !databases.empty()) {
      session.report.warn(database.error().code, database.error().message, database.error().note);
      continue;
    }
    if (!database) return tl::unexpected(std::move(database.error()));
    databases.push_back(std::move(*database));
  }
  return databases;
}

/// Where nothing of its own is stored, the schedules of relatives; those that were asked for before all.
Result<search::Priors> priors_of(const Workload& workload, const search::Space& space, const TuningKey& key,
                                 const TuningRequest& request, std::vector<db::Database>& databases,
                                 const Session& session) {
  const codegen::Target& target = space.target();
  TILE_TUNE_TRY(priors, load_priors(databases, key, workload.program));
  if (!priors.best && priors.seeds.empty()) {
    TILE_TUNE_TRY(nearest, transferred_schedules(workload, target, databases, kRelatives));
    for (auto& one : nearest) priors.seeds.push_back(std::move(one.schedule));
  }
  TILE_TUNE_TRY(of_steps, schedule_of_steps(workload, target, databases, space.dimensions()));
  if (of_steps) priors.seeds.insert(priors.seeds.begin(), std::move(*of_steps));
  TILE_TUNE_TRY(curated, curated_record(workload, target, databases, session));
  if (curated)
    if (auto schedule = fitting_for(curated->schedule_json, workload.program, target))
      priors.seeds.insert(priors.seeds.begin(), std::move(*schedule));
  priors.seeds.insert(priors.seeds.begin(), request.seeds.begin(), request.seeds.end());
  if (space.dimensions() == search::Dimensions::Apart) {  // winners have to be, too
    if (priors.best && priors.best->collapsed) priors.best.reset();
    std::erase_if(priors.seeds, [](const codegen::Schedule& seed) { return seed.collapsed; });
  }
  for (const auto& seed : request.seeds) std::erase(priors.faulty, codegen::schedule_id(seed));
  return priors;
}

}  // namespace

Result<Knowledge> know(const Workload& workload, const search::Space& space, const TuningRequest& request,
                       const Session& session) {
  const auto& target = space.target();
  Knowledge known{{}, {}, {workload.row, target_row(target), tool_row()}, {}, {}};
  TILE_TUNE_TRY(path, session.database());
  known.path = std::move(path);
  TILE_TUNE_TRY(databases, open_databases(session));
  known.databases = std::move(databases);
  TILE_TUNE_TRY(priors, priors_of(workload, space, known.key, request, known.databases, session));
  known.priors = std::move(priors);
  TILE_TUNE_TRY(start, start_session(known.databases.front(), known.key, request, space, session.report));
  known.start = std::move(start);
  if (known.start.strategy == search::Strategy::Model)
    TILE_TUNE_CHECK(
        load_experience(known.databases, known.key, workload.program, target, known.start.session, known.priors));
  known.priors.unfinished = known.start.done;
  return known;
}

}  // namespace tile_tune::engine
