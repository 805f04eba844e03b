// One workload as `bench` measured it, and what is said of it: ratios with their intervals, shares of the roof.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "search/baselines/contest.h"

namespace tile_tune::engine {

/// One workload as measured.
struct BenchRow {
  std::string name, group, sizes, layout;
  double flops = 0, bytes = 0;                  // rates are computed from
  double counted_flops = 0, counted_bytes = 0;  // what the probes' shares are of (ir::flops, ir::traffic)
  bool from_memory = false;                     // its tensors are larger than the last cache
  nlohmann::json record;  // what the database knows of the tuned schedule (records/schedule_choice.h)
  search::ContestResult result;
};

/// "default" or "tuned": the entry of that name, if it ran.
const search::Entry* find_entry(const BenchRow& row, const std::string& name);

/// The fastest library; with constants packed beforehand; the fastest kernel of an automatic scheduler. nullptr: none
/// ran.
const search::Entry* best_baseline(const BenchRow& row);
const search::Entry* best_packed_baseline(const BenchRow& row);
const search::Entry* best_autoscheduled(const BenchRow& row);
/// Kernels with packed constants compare with a baseline that packs them, too.
bool is_packed(const std::string& name);

/// Speed of `one` over `other`'s; nullopt where either did not run.
std::optional<search::Ratio> speed_ratio(const search::Entry* one, const search::Entry* other, uint64_t seed);
/// Speed of the entry of that name over the best baseline's, and over the fastest kernel of an automatic scheduler.
std::optional<search::Ratio> ratio_to_best(const BenchRow& row, const std::string& name, uint64_t seed);
std::optional<search::Ratio> ratio_to_autoscheduled(const BenchRow& row, const std::string& name, uint64_t seed);

/// How much of what limits the program the entry reaches, as median over rounds: of the FMA peak, or of the memory
/// bandwidth where that is more and the tensors are larger than the last cache. 0: not known, since the median is
/// beyond 105 %. bench_json() has its interval, in which rounds beyond that have no part; of an unknown share the
/// interval of all rounds is called above_roof_interval.
double roof_share(const BenchRow& row, const search::Entry& entry);
/// Of what limits the program, the share reached in each round.
std::vector<double> limiting_shares(const BenchRow& row, const search::Entry& entry);
// No kernel is faster than what limits it: then the probes were disturbed. 5 %, as in finals (roofline.h).
inline constexpr double kLargestShare = 1.05;

}  // namespace tile_tune::engine
