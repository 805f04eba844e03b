#include "cli/status_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "frontend/diagnostic/utf8.h"

namespace tile_tune::cli {

namespace {

/// What goes first where there is no room has the highest rank.
struct Part {
  int rank;
  std::string text;
};

bool is_fault(search::Outcome outcome) {
  switch (outcome) {
    case search::Outcome::Ok:
    case search::Outcome::Duplicate:
    case search::Outcome::Slow:
      return false;
    default:
      return true;
  }
}

/// As wide whatever the time, so that what follows stays where it is.
std::string clock_text(const Status& status, double now) {
  const std::string spent = fmt::format("{:.0f}", std::floor(now - status.began));
  if (!status.seconds) return spent + " s";
  const std::string budget = fmt::format("{:g}", *status.seconds);
  return fmt::format("{:>{}}/{} s", spent, budget.size(), budget);
}

std::string trials_text(const search::Progress& progress) {
  const int done = progress.trials + progress.replayed;
  if (progress.trials_left) return fmt::format("{}/{} trials", done, done + *progress.trials_left);
  return base::format_number(static_cast<size_t>(done), "trial");
}

std::string faults_text(const search::Progress& progress) {
  std::vector<std::string> faults;
  for (const auto& [outcome, count] : progress.outcomes)
    if (is_fault(outcome) && count > 0) faults.push_back(fmt::format("{} {}", count, search::outcome_name(outcome)));
  return fmt::format("{}", fmt::join(faults, ", "));
}

void add_progress(const Status& status, double now, std::vector<Part>& parts) {
  const auto& progress = *status.progress;
  parts.push_back({2, trials_text(progress)});
  if (progress.best_ns > 0) {
    parts.push_back({1, "best " + base::format_time(progress.best_ns)});
    const double rate = status.flops / progress.best_ns;
    if (rate > 0) parts.push_back({4, fmt::format("{:.{}f} GFLOP/s", rate, rate < 100 ? 1 : 0)});
    if (progress.best_ratio > 0) parts.push_back({3, fmt::format("{:.2f}x", progress.best_ratio)});
    parts.push_back({5, fmt::format("{:.0f} s ago", std::max(0.0, std::floor(now - progress.improved_at)))});
  }
  if (const std::string faults = faults_text(progress); !faults.empty()) parts.push_back({6, faults});
  if (status.verbose && progress.quality)
    parts.push_back(
        {7, fmt::format("model {:.0f} % of pairs, {:.0f} % of the fastest", 100 * progress.quality->pairwise_accuracy(),
                        100 * progress.quality->top_recall())});
}

size_t characters(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string joined(const std::vector<Part>& parts) {
  std::string text;
  for (const auto& part : parts) text += (text.empty() ? "" : "  ") + part.text;
  return text;
}

}  // namespace

std::string status_text(const Status& status, double now, size_t columns) {
  // Of a long sentence about what is waited for so much is enough to leave others out for; it stands last, and is cut.
  constexpr size_t kEnough = 40;
  std::vector<Part> parts{{0, clock_text(status, now)}};
  if (!status.task.empty()) parts.push_back({1, printable(status.task)});
  if (status.progress) add_progress(status, now, parts);
  if (!status.doing.empty()) parts.push_back({0, printable(status.doing)});
  const size_t doing = characters(printable(status.doing));
  const size_t spare = doing > kEnough ? doing - kEnough : 0;
  std::string text = joined(parts);
  while (characters(text) > columns + spare) {
    const auto least = std::max_element(parts.begin(), parts.end(),
                                        [](const Part& one, const Part& other) { return one.rank < other.rank; });
    if (least->rank == 0) break;
    parts.erase(least);
    text = joined(parts);
  }
  return base::cut_to_width(text, columns);
}

}  // namespace tile_tune::cli
