#include "cli/bench_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/units.h"
#include "cli/table.h"

namespace tile_tune::cli {

namespace {

using engine::BenchRow;
using engine::best_baseline;
using engine::best_packed_baseline;
using engine::find_entry;
using engine::is_packed;
using engine::ratio_to_autoscheduled;
using engine::ratio_to_best;
using engine::roof_share;
using search::Entry;

std::string gflops(const BenchRow& row, const Entry& entry) {
  return row.flops > 0 ? fmt::format("{:.1f}", row.flops / search::median(entry.samples_ns)) : "-";
}
std::string gbytes(const BenchRow& row, const Entry& entry) {
  return fmt::format("{:.1f}", row.bytes / search::median(entry.samples_ns));
}

std::string ratio_text(const std::optional<search::Ratio>& ratio) {
  if (!ratio) return "-";
  return fmt::format("{:.2f} [{:.2f} {:.2f}]", ratio->median, ratio->interval.lo, ratio->interval.hi);
}

constexpr const char* kLine = "{:<32.32}  {:>9}  {:>9}  {:>8}  {:>7}  {:>14}  {:>9}  {:>18}  {:>18}  {:>18}";
constexpr const char* kAutoscheduledColumn = "  {:>18}";

/// The tuned one where there is one.
std::optional<search::Ratio> packed_ratio(const BenchRow& row, uint64_t seed) {
  const auto tuned = ratio_to_best(row, "tuned-packed", seed);
  return tuned ? tuned : ratio_to_best(row, "default-packed", seed);
}

/// Why an entry did not run.
std::string left_out_text(const Entry& entry) {
  const bool slow = entry.outcome == search::Outcome::Slow && !entry.samples_ns.empty();
  return fmt::format("  {}  {}\n", entry.name,
                     slow ? fmt::format("left out: a call takes {}", base::format_time(entry.samples_ns.front()))
                          : fmt::format("{}: {}", search::outcome_name(entry.outcome), entry.reason));
}

}  // namespace

bool has_autoscheduled(const BenchRow& row) {
  return std::any_of(row.result.entries.begin(), row.result.entries.end(),
                     [](const Entry& entry) { return entry.is_autoscheduled; });
}

std::string bench_titles(bool autoscheduled) {
  return fmt::format(kLine, "workload", "default", "tuned", "GFLOP/s", "of roof", "best baseline", "time",
                     "default over best", "tuned over best", "packed over packed") +
         (autoscheduled ? fmt::format(kAutoscheduledColumn, "over autoscheduler") : "") + "\n";
}

std::string bench_line(const BenchRow& row, uint64_t seed) {
  const Entry *plain = find_entry(row, "default"), *tuned = find_entry(row, "tuned"), *best = best_baseline(row);
  const Entry* own = tuned ? tuned : plain;
  const auto time = [](const Entry* entry) {
    return entry ? base::format_time(search::median(entry->samples_ns)) : std::string("-");
  };
  std::string text = fmt::format(kLine, row.name, time(plain), time(tuned), own ? gflops(row, *own) : "-",
                                 own ? base::format_percent(roof_share(row, *own)) : "-", best ? best->name : "-",
                                 time(best), ratio_text(ratio_to_best(row, "default", seed)),
                                 ratio_text(ratio_to_best(row, "tuned", seed)), ratio_text(packed_ratio(row, seed)));
  if (has_autoscheduled(row))
    text +=
        fmt::format(kAutoscheduledColumn, ratio_text(ratio_to_autoscheduled(row, tuned ? "tuned" : "default", seed)));
  const auto is_disturbed = [&](const Entry& entry) {
    return entry.disturbed && (!entry.baseline || &entry == best || &entry == best_packed_baseline(row));
  };
  if (std::any_of(row.result.entries.begin(), row.result.entries.end(), is_disturbed)) text += "  (disturbed)";
  text += "\n";
  for (const auto& entry : row.result.entries)
    if (!entry.ran() && !entry.is_absent() && (!entry.baseline || !best)) text += left_out_text(entry);
  return text;
}

std::string bench_table(const BenchRow& row, uint64_t seed, size_t width) {
  std::vector<const Entry*> ran;
  for (const auto& entry : row.result.entries)
    if (entry.ran()) ran.push_back(&entry);
  std::sort(ran.begin(), ran.end(), [](const Entry* a, const Entry* b) {
    return search::median(a->samples_ns) < search::median(b->samples_ns);
  });
  const Entry* best = best_baseline(row);
  const auto reference = [&](const Entry& entry) {
    return !entry.baseline && is_packed(entry.name) ? best_packed_baseline(row) : best;
  };
  const auto over_best = [&](const Entry& entry) {
    const Entry* other = reference(entry);
    return other ? search::speed_ratio(entry, *other, seed) : std::nullopt;
  };
  const auto note = [&](const Entry& entry) {
    const Entry* other = reference(entry);
    return entry.note + (other && other != best ? fmt::format(" (over {})", other->name) : "") +
           (entry.disturbed ? " (disturbed)" : "");
  };
  std::vector<std::vector<std::string>> rows;
  for (const auto* entry : ran)
    rows.push_back({entry->name + (entry == best ? " *" : ""), base::format_time(search::median(entry->samples_ns)),
                    base::format_time(search::quantile(entry->samples_ns, 0.1)),
                    base::format_time(search::quantile(entry->samples_ns, 0.9)), gflops(row, *entry),
                    gbytes(row, *entry), base::format_percent(roof_share(row, *entry)), ratio_text(over_best(*entry)),
                    note(*entry)});
  const auto right = Align::Right;
  std::string text = format_table({{""},
                                   {"median", right},
                                   {"p10", right},
                                   {"p90", right},
                                   {"GFLOP/s", right},
                                   {"GB/s", right},
                                   {"of roof", right},
                                   {"over best", right},
                                   {""}},
                                  rows, 2, width);
  for (const auto& entry : row.result.entries)
    if (!entry.ran() && !entry.is_absent()) text += left_out_text(entry);
  return text;
}

std::string absent_text(const std::vector<BenchRow>& rows) {
  std::vector<std::string> names;
  std::string other;  // what they need to be compiled
  for (const auto& row : rows)
    for (const auto& entry : row.result.entries) {
      if (!entry.is_absent() || std::find(names.begin(), names.end(), entry.name) != names.end()) continue;
      names.push_back(entry.name);
      if (!entry.reason.starts_with(entry.name)) other = entry.reason;
    }
  if (names.empty()) return "";
  return fmt::format("{}: {}", other.empty() ? "not installed" : other + ", which these need", fmt::join(names, ", "));
}

std::string bench_legend(bool many, bool autoscheduled, size_t width) {
  if (!many)
    return format_table({{""}, {""}},
                        {{"median, p10, p90", "of the time of one call: half, a tenth, nine tenths take no longer"},
                         {"GFLOP/s, GB/s", "the program's operations and bytes in the median time"},
                         {"of roof", "share of the FMA peak or the memory bandwidth, whichever limits it"},
                         {"over best", "times as fast as the fastest library (*), with a 95 % interval"}},
                        0, width);
  std::vector<std::vector<std::string>> lines{
      {"default, tuned", "median time of one call with the default schedule and with the best stored one"},
      {"GFLOP/s", "of the tuned schedule, else of the default one"},
      {"of roof", "share of the FMA peak or the memory bandwidth, whichever limits it"},
      {"best baseline, time", "the fastest library, and its median time"},
      {"... over best", "times as fast as that library, with a 95 % interval"},
      {"packed over packed", "the same with constant operands packed beforehand on both sides"}};
  if (autoscheduled) lines.push_back({"over autoscheduler", "times as fast as Halide's best automatic schedule"});
  lines.push_back({"least", "of a group's workloads, tuned over best where there is a tuned schedule"});
  return format_table({{""}, {""}}, lines, 0, width);
}

std::string bench_means(const std::vector<BenchRow>& rows, uint64_t seed) {
  struct Mean {
    double default_logs = 0, tuned_logs = 0, gain_logs = 0, packed_logs = 0, worst = 0;
    int defaults = 0, tuned = 0, packed = 0;
  };
  std::map<std::string, Mean> means;
  for (const auto& row : rows) {
    const auto plain = ratio_to_best(row, "default", seed), tuned = ratio_to_best(row, "tuned", seed),
               packed = packed_ratio(row, seed);
    for (const std::string& group : {row.group, std::string("all")}) {
      Mean& mean = means[group];
      const auto& own = tuned ? tuned : plain;
      if (own) mean.worst = mean.worst == 0 ? own->median : std::min(mean.worst, own->median);
      if (packed) mean.packed_logs += std::log(packed->median), ++mean.packed;
      if (plain) mean.default_logs += std::log(plain->median), ++mean.defaults;
      if (plain && tuned) {
        mean.tuned_logs += std::log(tuned->median);
        mean.gain_logs += std::log(plain->median / tuned->median);
        ++mean.tuned;
      }
    }
  }
  const auto text = [](double logs, int count) { return count ? fmt::format("{:.2f}", std::exp(logs / count)) : "-"; };
  std::vector<std::vector<std::string>> lines;
  const auto add = [&](const std::string& group, const Mean& mean) {
    lines.push_back({group, std::to_string(mean.defaults), text(mean.default_logs, mean.defaults),
                     text(mean.tuned_logs, mean.tuned), text(mean.gain_logs, mean.tuned),
                     mean.worst > 0 ? fmt::format("{:.2f}", mean.worst) : "-", text(mean.packed_logs, mean.packed)});
  };
  for (const auto& [group, mean] : means)
    if (group != "all") add(group.empty() ? "-" : group, mean);
  add("all", means["all"]);
  const auto right = Align::Right;
  return format_table({{"geometric means"},
                       {"workloads", right},
                       {"default over best", right},
                       {"tuned over best", right},
                       {"default over tuned", right},
                       {"least", right},
                       {"packed over packed", right}},
                      lines);
}

}  // namespace tile_tune::cli
