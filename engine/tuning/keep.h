// What a search found, kept: the end of its session in the database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/records/tuning_store.h"
#include "engine/tuning/knowledge.h"

namespace tile_tune::engine {

struct Tuned {
  search::TuneReport report;
  uint64_t seed = 0;
  std::string session, database;
  std::vector<std::string>
      reproducers;  // folders that make failures of this session happen again (records/quarantine.h)
  std::optional<double> written_ns = std::nullopt;  // of the form as written, where it was searched, too
  double steps_seconds = 0;                         // of searching its steps before
};

/// Ends the session of `store` with the finals of the search, the winner of which is the best known from now on. A form
/// of which not even the default schedule works is an error of class Verification.
Result<Tuned> keep(Result<search::TuneReport> found, const Workload& form, const Knowledge& known, TuningStore& store,
                   bool was_stopped, const Reporter& report);

}  // namespace tile_tune::engine
