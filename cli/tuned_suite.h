// What became of a suite's workloads in `tune`: a line each, told at the end.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/evolve/tune.h"

namespace tile_tune::cli {

struct TunedWorkload {
  std::string name;
  std::optional<search::TuneReport> report;  // none: skipped, or failed before there was one
  double seconds = 0;
  std::string failure = "";  // why nothing was chosen; empty: something was, or it was skipped
};

/// A table of the workloads, and the geometric mean of the speed-ups below it.
std::string suite_text(const std::vector<TunedWorkload>& workloads, size_t width = 0);

/// {"workloads": summaries, "tuned", "skipped", "failed": [{"name", "reason"}], "speed_up"}; `summaries`: summary_json
/// of those that have one.
nlohmann::json suite_json(const std::vector<TunedWorkload>& workloads, const nlohmann::json& summaries);

}  // namespace tile_tune::cli
