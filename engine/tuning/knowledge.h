// What is known of a program before the first candidate is tried.
#pragma once

#include <filesystem>
#include <vector>

#include "db/database.h"
#include "engine/tuning/start.h"

namespace tile_tune::engine {

struct Knowledge {
  std::filesystem::path path;           // of the first database
  std::vector<db::Database> databases;  // the first is written
  TuningKey key;
  Start start;            // the session that this becomes part of
  search::Priors priors;  // schedules to begin with, of its own records or its relatives'; what a model learns from
};

/// From the session's databases. Begins the session, or goes on with an unfinished one.
Result<Knowledge> know(const Workload& workload, const search::Space& space, const TuningRequest& request,
                       const Session& session);

}  // namespace tile_tune::engine
