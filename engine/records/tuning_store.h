// One tuning session in the database: keeps its trials as they come, and tells what is known beforehand.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/database.h"
#include "engine/records/experience.h"
#include "engine/records/workload.h"
#include "search/evolve/tune.h"

namespace tile_tune::engine {

/// What the databases know of a key: the stored winner (db/stack.h), the five best schedules
/// of earlier sessions, those that failed. Records that do not fit the program are left out.
Result<search::Priors> load_priors(std::vector<db::Database>& databases, const TuningKey& key,
                                   const ir::Program& program);

/// The session that trials belong to.
struct StoredSession {
  std::string id;
  uint64_t seed = 0;
  double elapsed = 0;  // seconds of search that earlier invocations took
};

class TuningStore : public search::TrialSink {
 public:
  /// `clock` gives seconds since this invocation's search began. Of candidates that crash or compute wrong results
  /// reproducers (engine/records/quarantine.h) are written into `quarantine`, of the first few of an invocation.
  TuningStore(db::Database& database, TuningKey key, StoredSession session, std::filesystem::path quarantine,
              std::function<double()> clock);

  /// Finals are held back until finish(): which of them is chosen is part of what is stored, and known last.
  Result<void> on_trial(const search::Trial& trial) override;
  /// Stores the finals, of which `winner` (if there is one) is the best known from now on, and ends the session.
  Result<void> finish(const std::string& state, const std::optional<search::Winner>& winner);

  const std::string& session() const { return session_.id; }
  /// The reproducers written, and why one could not be (which ends nothing).
  const std::vector<std::string>& reproducers() const { return reproducers_; }
  const std::optional<Diagnostic>& reproducer_fault() const { return reproducer_fault_; }

 private:
  void keep_reproducer(const std::string& trial, const db::TrialRow& row);

  db::Database& database_;
  TuningKey key_;
  StoredSession session_;
  std::filesystem::path quarantine_;
  std::vector<std::string> reproducers_;
  std::optional<Diagnostic> reproducer_fault_;
  std::function<double()> clock_;
  std::vector<db::TrialRow> finals_;
};

}  // namespace tile_tune::engine
