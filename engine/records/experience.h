// What a cost model may learn from a database.
#pragma once

#include <string>
#include <vector>

#include "db/database.h"
#include "engine/records/workload.h"
#include "search/evolve/tune.h"

namespace tile_tune::engine {

/// What a session is about; the exact key of its trials.
struct TuningKey {
  db::ProgramRow program;
  db::TargetRow target;
  db::ToolRow tool;
};

/// Samples of other programs beyond these slow every batch and teach little: a thousand take some 30 ms to train on.
constexpr size_t kMostSamples = 1000;

/// The trials of exactly this key as samples, each against the best of them. A key whose stored program is not what its
/// hash says has none.
Result<std::vector<predict::Sample>> samples_of(db::Database& database, const TuningKey& key,
                                                const codegen::Target& target);

/// What a cost model may learn from before the first trial, into `priors`: trials of the same program from sessions
/// older than `session` (so that a resumed one learns what it learnt at first), and of the same program at other sizes
/// with the same target and tool.
Result<void> load_experience(std::vector<db::Database>& databases, const TuningKey& key, const ir::Program& program,
                             const codegen::Target& target, const std::string& session, search::Priors& priors);

}  // namespace tile_tune::engine
