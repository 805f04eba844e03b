// What `tune` says at the end.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/records/workload.h"
#include "search/evolve/tune.h"

namespace tile_tune::cli {

struct TuneSummary {
  const engine::Workload& workload;
  const codegen::Target& target;
  const search::TuneReport& report;
  uint64_t seed = 0;
  double seconds = 0;        // of the whole invocation
  double steps_seconds = 0;  // Tuned::steps_seconds
  std::string session, database;
  std::vector<std::string> reproducers = {};        // Tuned::reproducers
  std::optional<double> written_ns = std::nullopt;  // Tuned::written_ns
  std::string stopped_by = {};                      // "Ctrl-C"; empty: nobody did
  bool verbose = false;
};

/// In lines of at most `width` characters where words allow it; 0: of any length.
std::string summary_text(const TuneSummary& summary, size_t width = 0);
nlohmann::json summary_json(const TuneSummary& summary);
/// "Ctrl-C", "SIGTERM" or "SIGHUP"; null if nobody stopped it.
nlohmann::json stopped_by_json(const std::string& signal);

/// "48: 40 ok, 5 slow, 3 duplicate"
std::string outcomes_text(const std::map<search::Outcome, int>& outcomes);

}  // namespace tile_tune::cli
