#include "cli/tuned_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"
#include "cli/table.h"

namespace tile_tune::cli {

namespace {

bool has_winner(const TunedWorkload& one) { return one.report && one.report->winner; }
bool is_skipped(const TunedWorkload& one) { return !one.report && one.failure.empty(); }

double geometric_mean_gain(const std::vector<TunedWorkload>& workloads) {
  double sum = 0;
  int count = 0;
  for (const auto& one : workloads) {
    if (!has_winner(one) || one.report->winner->measurement.ratio <= 0) continue;
    sum += std::log(one.report->winner->measurement.ratio);
    ++count;
  }
  return count > 0 ? std::exp(sum / count) : 0;
}

std::string note_of(const TunedWorkload& one) {
  if (!one.failure.empty()) return one.failure;
  if (is_skipped(one)) return "skipped: its last session is finished";
  if (!one.report->winner)
    return one.report->stop_reason == search::StopReason::Time ? "no time: the default stands" : "stopped";
  if (one.report->winner->measurement.disturbed) return "disturbed";
  switch (one.report->winner->standing) {
    case search::Standing::Default:
      return "the default";
    case search::Standing::Previous:
      return "the stored one";
    case search::Standing::New:
      break;
  }
  return "";
}

std::vector<std::string> row_of(const TunedWorkload& one) {
  std::vector<std::string> row{one.name, "", "", "", "", "", note_of(one)};
  if (!one.report) return row;
  const auto& untuned = one.report->default_measurement;
  if (untuned.median_ns > 0) row[1] = base::format_time(untuned.median_ns);
  if (const auto& winner = one.report->winner) {
    row[2] = base::format_time(winner->measurement.median_ns);
    row[3] = fmt::format("{:.2f}x", winner->measurement.ratio);
  }
  row[4] = std::to_string(one.report->trials + one.report->replayed);
  row[5] = fmt::format("{:.0f} s", one.seconds);
  return row;
}

}  // namespace

std::string suite_text(const std::vector<TunedWorkload>& workloads, size_t width) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& one : workloads) rows.push_back(row_of(one));
  std::string text = format_table({{"workload"},
                                   {"untuned", Align::Right},
                                   {"tuned", Align::Right},
                                   {"speed-up", Align::Right},
                                   {"trials", Align::Right},
                                   {"time", Align::Right},
                                   {""}},
                                  rows, 0, width);
  if (const double mean = geometric_mean_gain(workloads); mean > 0)
    text += fmt::format("\ngeometric mean of the speed-ups: {:.2f}x\n", mean);
  return text;
}

nlohmann::json suite_json(const std::vector<TunedWorkload>& workloads, const nlohmann::json& summaries) {
  nlohmann::json failed = nlohmann::json::array(), skipped = nlohmann::json::array();
  for (const auto& one : workloads) {
    if (!one.failure.empty()) failed.push_back({{"name", one.name}, {"reason", one.failure}});
    if (is_skipped(one)) skipped.push_back(one.name);
  }
  nlohmann::json json{{"workloads", summaries},
                      {"tuned", std::count_if(workloads.begin(), workloads.end(), has_winner)},
                      {"skipped", skipped},
                      {"failed", failed}};
  if (const double mean = geometric_mean_gain(workloads); mean > 0) json["speed_up"] = mean;
  return json;
}

}  // namespace tile_tune::cli
