#include "engine/tuning/prediction.h"

#include <random>

#include "engine/records/predicted_records.h"
#include "search/space/space.h"

namespace tile_tune::engine {

Result<PredictedBest> predict(const Workload& workload, const codegen::Target& target, const TuningRequest& request,
                              const Session& session, const std::atomic<bool>& stop) {
  // A schedule is looked at in some tenth of a millisecond.
  constexpr int kConsidered = 5000;
  constexpr size_t kKept = 5;
  const search::Space space(workload.program, target);
  search::Deadline end;
  if (request.seconds) end = {now_seconds() + *request.seconds};
  PredictedBest result;
  result.seed = request.seed ? *request.seed : std::random_device()();
  result.best = search::best_predicted(search::moves_of(space), result.seed, request.trials.value_or(kConsidered),
                                       kKept, end, stop);
  TILE_TUNE_TRY(path, session.database());
  result.database = path.string();
  TILE_TUNE_TRY(id, store_predicted(workload, target, result.seed, result.best, session));
  result.session = std::move(id);
  return result;
}

}  // namespace tile_tune::engine
