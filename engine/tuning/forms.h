// Programs that are searched in two forms: in steps, and as written.
#pragma once

#include <functional>

#include "engine/tuning/keep.h"
#include "engine/tuning/tuning_request.h"

namespace tile_tune::engine {

using TuneForm = std::function<Result<Tuned>(const Workload& form, const TuningRequest&, const Watch&)>;

/// The workload by `tune`, and, where its products are in steps, the program as written afterwards, with its share of
/// the budget (shares_of()) and of what time is left. That the latter failed is a warning.
Result<Tuned> tune_forms(const Workload& workload, const TuningRequest& request, const Watch& watch,
                         const Reporter& report, const TuneForm& tune);

}  // namespace tile_tune::engine
