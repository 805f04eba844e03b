// Sessions in the database: a new one to work in, or one that was left unfinished.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/database.h"
#include "engine/records/experience.h"
#include "engine/session/session.h"
#include "engine/tuning/tuning_request.h"
#include "search/space/space.h"

namespace tile_tune::engine {

/// A session to work in: a new one, or one that was left unfinished.
struct Start {
  std::string session;
  uint64_t seed = 0;
  search::Strategy strategy = search::Strategy::Genetic;
  search::Budget budget;
  double elapsed = 0;  // by earlier invocations
  std::vector<search::Trial> done;
};

/// As the request says. An unfinished session whose trials do not fit the program is left alone, with a warning.
Result<Start> start_session(db::Database& database, const TuningKey& key, const TuningRequest& request,
                            const search::Space& space, const Reporter& report);

/// Whether the database that is written has a finished search of this workload, and no unfinished one.
Result<bool> is_finished(const Workload& workload, const codegen::Target& target, const Session& session);

}  // namespace tile_tune::engine
