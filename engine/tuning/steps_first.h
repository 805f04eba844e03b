// Networks are searched step by step before they are searched as a whole.
#pragma once

#include <functional>

#include "engine/records/network_steps.h"
#include "engine/session/session.h"
#include "engine/tuning/tuning_request.h"

namespace tile_tune::engine {

using TuneStep = std::function<Result<void>(const NetworkStep&, const TuningRequest&, const Watch&)>;

/// Has the steps of the workload that are not tuned yet searched one after the other by `tune`, each of which keeps
/// what it finds as its own record, with a part of the request, and gives the rest of that for the whole; `watch`
/// begins anew with it. A step that fails is a warning. All of the request where there are no such steps, where they
/// would have too little each, or where an unfinished session is gone on with what it has left.
Result<TuningRequest> tune_steps(const Workload& network, const codegen::Target& target, const TuningRequest& request,
                                 Watch& watch, const Session& session, const TuneStep& tune);

}  // namespace tile_tune::engine
