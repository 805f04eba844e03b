// `bench --max-regression`: whether tuned kernels still are as fast as they once were, for CI.
//
// Times of two runs say little about each other (the clock moves by a tenth), so ratios within a run are compared: the
// tuned schedule's speed over the default one's with what the database recorded when it was tuned, or, with --since,
// its speed over the best baseline with an earlier output of `bench --json`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/bench/row.h"
#include "engine/session/reporter.h"

namespace tile_tune::engine {

struct RegressionOptions {
  std::string allowed;  // "3%"; empty: not checked
  std::string since;    // file of an earlier run
};

/// "3%" or "3" as 0.03; nullopt: no percentage from 0 up to 100.
std::optional<double> share_in(const std::string& text);

/// Workload and sizes -> tuned over best as an earlier run measured it; empty without a file.
using StoredRatios = std::map<std::string, double>;
Result<StoredRatios> stored_ratios(const RegressionOptions& options);

/// An error that names every workload whose ratio has fallen by more than allowed: the upper end of its interval lies
/// below. Workloads without a stored ratio, and disturbed ones, are warned of, never judged.
Result<void> check_regressions(const std::vector<BenchRow>& rows, const StoredRatios& stored,
                               const RegressionOptions& options, const Reporter& report, uint64_t seed);

}  // namespace tile_tune::engine
