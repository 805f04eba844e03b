#include "engine/bench/regression.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "engine/programs/program_argument.h"

namespace tile_tune::engine {

namespace {

std::string key_of(const std::string& name, const std::string& sizes) { return name + " " + sizes; }

struct Comparison {
  std::optional<double> stored;
  std::optional<search::Ratio> now;
};

Comparison compare(const BenchRow& row, const StoredRatios& stored, const RegressionOptions& options, uint64_t seed) {
  const search::Entry *tuned = find_entry(row, "tuned"), *plain = find_entry(row, "default");
  if (!options.since.empty()) {
    const auto found = stored.find(key_of(row.name, row.sizes));
    return {found == stored.end() ? std::nullopt : std::optional(found->second), ratio_to_best(row, "tuned", seed)};
  }
  if (!tuned || !plain) return {};
  const double recorded = row.record.value("ratio_to_default", 0.0);
  return {recorded > 0 ? std::optional(recorded) : std::nullopt, search::speed_ratio(*tuned, *plain, seed)};
}

bool is_disturbed(const BenchRow& row, const RegressionOptions& options) {
  const int best = options.since.empty() ? -1 : search::best_baseline(row.result.entries);
  for (size_t i = 0; i < row.result.entries.size(); ++i) {
    const auto& entry = row.result.entries[i];
    if (entry.disturbed && (entry.is_own() || static_cast<int>(i) == best)) return true;
  }
  return !row.result.alone;
}

}  // namespace

std::optional<double> share_in(const std::string& text) {
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const std::string rest(end, text.data() + text.size());
  if (error != std::errc() || (rest != "%" && !rest.empty()) || !(percent >= 0 && percent < 100)) return std::nullopt;
  return percent / 100;
}

Result<StoredRatios> stored_ratios(const RegressionOptions& options) {
  StoredRatios ratios;
  if (options.since.empty()) return ratios;
  TILE_TUNE_TRY(text, read_text(options.since));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  try {
    if (json.at("kind") != "benchmark") throw std::invalid_argument("kind");
    for (const auto& workload : json.at("workloads"))
      if (workload.contains("tuned_over_best"))
        ratios[key_of(workload.at("name"), workload.at("sizes"))] = workload.at("tuned_over_best").at("median");
  } catch (const std::exception&) {
    return fail(ErrorClass::Program, "not-a-benchmark", fmt::format("{} is no output of bench --json", options.since));
  }
  return ratios;
}

Result<void> check_regressions(const std::vector<BenchRow>& rows, const StoredRatios& stored,
                               const RegressionOptions& options, const Reporter& report, uint64_t seed) {
  const auto allowed = share_in(options.allowed);
  if (!allowed) return {};
  std::vector<std::string> fallen;
  for (const auto& row : rows) {
    const auto [before, now] = compare(row, stored, options, seed);
    if (!before || !now) {
      report.warn("not-compared",
                  fmt::format("{} has no {} ratio to compare", row.name, before ? "measured" : "stored"),
                  "tune it, or name an earlier run that holds it");
    } else if (is_disturbed(row, options)) {
      report.warn("not-compared", fmt::format("{} was disturbed while it was measured", row.name),
                  "run again on a quieter machine");
    } else if (now->interval.hi < *before * (1 - *allowed)) {
      fallen.push_back(fmt::format("{} ({:.2f} [{:.2f} {:.2f}], was {:.2f})", row.name, now->median, now->interval.lo,
                                   now->interval.hi, *before));
    }
  }
  if (fallen.empty()) return {};
  return failure("regression",
                 fmt::format("slower than recorded by more than {}: {}", options.allowed, fmt::join(fallen, ", ")));
}

}  // namespace tile_tune::engine
