// What `bench` says: a line a workload, a table of one, means by group, and all of it as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codegen/target/target.h"
#include "engine/records/records.h"
#include "search/baselines/contest.h"

namespace tile_tune::cli {

/// One workload as measured.
struct BenchRow {
  std::string name, group, sizes, layout;
  double flops = 0, bytes = 0;                  // rates are computed from
  double counted_flops = 0, counted_bytes = 0;  // what the probes' shares are of (ir::flops, ir::traffic)
  bool from_memory = false;                     // its tensors are larger than the last cache
  nlohmann::json record;  // what the database knows of the tuned schedule (records/schedule_choice.h)
  search::ContestResult result;
};

/// One of a suite that could not be.
struct Unmeasured {
  std::string name;
  Diagnostic why;
};

/// "default" or "tuned": the entry of that name, if it ran.
const search::Entry* find_entry(const BenchRow& row, const std::string& name);

/// Speed of the entry of that name over the best baseline's, and over the fastest kernel of an automatic scheduler.
std::optional<search::Ratio> ratio_to_best(const BenchRow& row, const std::string& name, uint64_t seed);
std::optional<search::Ratio> ratio_to_autoscheduled(const BenchRow& row, const std::string& name, uint64_t seed);
bool has_autoscheduled(const BenchRow& row);

/// How much of what limits the program the entry reaches, as median over rounds: of the FMA peak, or of the memory
/// bandwidth where that is more and the tensors are larger than the last cache. 0: not known, since the median is
/// beyond 105 %. bench_json() has its interval, in which rounds beyond that have no part; of an unknown share the
/// interval of all rounds is called above_roof_interval.
double roof_share(const BenchRow& row, const search::Entry& entry);

/// Titles, and a line, of fixed widths: lines are shown as they come. Automatic schedulers have a column of their own.
/// Below the line: why a schedule of ours did not run, and where no baseline did, why none.
std::string bench_titles(bool autoscheduled);
std::string bench_line(const BenchRow& row, uint64_t seed);
/// Everybody who took part, fastest first, and who did not and why.
std::string bench_table(const BenchRow& row, uint64_t seed, size_t width = 0);
/// The libraries that this machine lacks, which neither line nor table has; empty: none.
std::string absent_text(const std::vector<BenchRow>& rows);

/// What the columns of bench_table() mean or, for many workloads, of bench_line() and bench_means().
std::string bench_legend(bool many, bool autoscheduled, size_t width = 0);

/// Geometric means of speed over the best baseline by group of the suite, and of all.
std::string bench_means(const std::vector<BenchRow>& rows, uint64_t seed);

nlohmann::json bench_json(const std::vector<BenchRow>& rows, const std::vector<Unmeasured>& failed,
                          const codegen::Target& target, uint64_t seed);

}  // namespace tile_tune::cli
