// What `bench` says: a line a workload, a table of one, means by group.
#pragma once

#include <string>
#include <vector>

#include "engine/bench/row.h"

namespace tile_tune::cli {

/// Whether automatic schedulers took part.
bool has_autoscheduled(const engine::BenchRow& row);

/// Titles, and a line, of fixed widths: lines are shown as they come. Automatic schedulers have a column of their own.
/// Below the line: why a schedule of ours did not run, and where no baseline did, why none.
std::string bench_titles(bool autoscheduled);
std::string bench_line(const engine::BenchRow& row, uint64_t seed);
/// Everybody who took part, fastest first, and who did not and why.
std::string bench_table(const engine::BenchRow& row, uint64_t seed, size_t width = 0);
/// The libraries that this machine lacks, which neither line nor table has; empty: none.
std::string absent_text(const std::vector<engine::BenchRow>& rows);

/// What the columns of bench_table() mean or, for many workloads, of bench_line() and bench_means().
std::string bench_legend(bool many, bool autoscheduled, size_t width = 0);

/// Geometric means of speed over the best baseline by group of the suite, and of all.
std::string bench_means(const std::vector<engine::BenchRow>& rows, uint64_t seed);

}  // namespace tile_tune::cli
