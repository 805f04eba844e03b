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

/// The error of a suite of which not everything was tuned: of the class of `first`. Nothing if all was.
std::optional<Diagnostic> suite_failure(const std::vector<TunedWorkload>& workloads,
                                        const std::optional<Diagnostic>& first);

/// The error of a suite some of whose workloads were not `done` ("tuned", "measured"): of the class of the first.
Diagnostic incomplete_suite(const Diagnostic& first, size_t failed, size_t all, const std::string& done);

/// Whether an error of one workload would be the error of every other one too: the disk, the database, the compiler.
bool concerns_all(const Diagnostic& error);

}  // namespace tile_tune::cli
