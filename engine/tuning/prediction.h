// A search without measurements: the best schedules by prediction, kept as such.
#pragma once

#include <string>
#include <vector>

#include "engine/session/session.h"
#include "engine/tuning/tuning_request.h"
#include "search/evolve/predicted.h"

namespace tile_tune::engine {

struct PredictedBest {
  std::vector<search::Predicted> best;  // the fastest first
  uint64_t seed = 0;
  std::string session, database;
};

/// Looks at as many schedules as the request has trials (by default some thousands), for as long as it has seconds.
Result<PredictedBest> predict(const Workload& workload, const codegen::Target& target, const TuningRequest& request,
                              const Session& session, const std::atomic<bool>& stop);

}  // namespace tile_tune::engine
