// The whole way of one program at one size: what tile-tune is for.
//
// Its steps, of which each has a file of its own: load (programs/), know (tuning/knowledge.h), search
// (tuning/search_schedules.h), keep (tuning/keep.h), choose (records/schedule_choice.h), package (packages/).
#pragma once

#include <string>
#include <vector>

#include "engine/session/session.h"
#include "engine/tuning/keep.h"
#include "engine/tuning/search_schedules.h"

namespace tile_tune::engine {

/// The workload of a bound program, in steps where that costs less, and small enough to be measured here.
Result<Workload> load(const LoadedProgram& loaded, const ir::Program& bound, const ir::Sizes& sizes,
                      const Session& session);

/// What is searched for.
struct Task {
  const Workload& workload;
  const codegen::Target& target;
  TuningRequest request;
  search::SmallVariant small_variant;  // small_variant_of()
  search::Dimensions dimensions = search::Dimensions::Collapsed;
};

/// Keeps every trial as soon as it is known. A program of which not even the default schedule works is an error of
/// class Verification. Where products are in steps, the form as written is searched afterwards, with its share of the
/// budget.
Result<Tuned> tune(const Task& task, const Session& session, const Watch& watch);

/// Writes the package of the best that is known now for all of the session's targets; paths of the files. Once `stop`
/// (may be null) is set nothing is written; code: stopped.
Result<std::vector<std::string>> package(const Workload& workload, const std::string& directory, const Session& session,
                                         const std::atomic<bool>* stop);

}  // namespace tile_tune::engine
