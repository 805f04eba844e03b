// One tuning session in the database: keeps its trials as they come, and tells what is known beforehand.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/records.h"
#include "db/database.h"
#include "search/evolve/tune.h"

namespace tile_tune::cli {

/// What a session is about; the exact key of its trials.
struct TuningKey {
  db::ProgramRow program;
  db::TargetRow target;
  db::ToolRow tool;
};

/// What the databases know of a key: the stored winner (db/stack.h), the five best schedules
/// of earlier sessions, those that failed. Records that do not fit the program are left out.
Result<search::Priors> load_priors(std::vector<db::Database>& databases, const TuningKey& key,
                                   const ir::Program& program);

/// What a cost model may learn from before the first trial, into `priors`: trials of the same program from sessions
/// older than `session` (so that a resumed one learns what it learnt at first), and of the same program at other sizes
/// with the same target and tool.
Result<void> load_experience(std::vector<db::Database>& databases, const TuningKey& key, const ir::Program& program,
                             const codegen::Target& target, const std::string& session, search::Priors& priors);

class TuningStore : public search::TrialSink {
 public:
  /// `clock` gives seconds since this invocation's search began; `elapsed` what earlier ones took.
  TuningStore(db::Database& database, std::string session, double elapsed, std::function<double()> clock);

  /// Finals are held back until finish(): which of them is chosen is part of what is stored, and known last.
  Result<void> on_trial(const search::Trial& trial) override;
  /// Stores the finals, of which `winner` (if there is one) is the best known from now on, and ends the session.
  Result<void> finish(const std::string& state, const std::optional<search::Winner>& winner);

  const std::string& session() const { return session_; }

 private:
  db::Database& database_;
  std::string session_;
  double elapsed_;
  std::function<double()> clock_;
  std::vector<db::TrialRow> finals_;
};

}  // namespace tile_tune::cli
