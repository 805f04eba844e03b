#include "engine/bench/bench_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "codegen/target/target.h"

namespace tile_tune::engine {

namespace {

using search::Entry;

nlohmann::json ratio_json(const search::Ratio& ratio) {
  return {{"median", ratio.median}, {"lo", ratio.interval.lo}, {"hi", ratio.interval.hi}};
}

// What the probes found: work done at the roof's rate in the time they say it takes, as median over rounds.
double probed_rate(double work, const Entry& entry, const std::vector<double>& fractions) {
  std::vector<double> rates;
  for (size_t round = 0; round < fractions.size(); ++round)
    if (fractions[round] > 0) rates.push_back(work / (fractions[round] * entry.samples_ns[round]));
  return rates.empty() ? 0 : search::median(rates);
}

void add_roof_share(const BenchRow& row, const Entry& entry, uint64_t seed, nlohmann::json& json) {
  const double share = roof_share(row, entry);
  json["roof_share"] = share;
  auto shares = limiting_shares(row, entry);
  if (share > 0) std::erase_if(shares, [](double one) { return one > kLargestShare; });  // as finals do
  if (shares.empty()) return;
  const auto spread = search::bootstrap_median(shares, seed);
  json[share > 0 ? "roof_share_interval" : "above_roof_interval"] = {spread.lo, spread.hi};
}

nlohmann::json entry_json(const BenchRow& row, const Entry& entry, uint64_t seed) {
  nlohmann::json json{{"name", entry.name},
                      {"outcome", search::outcome_name(entry.outcome)},
                      {"reason", entry.reason},
                      {"note", entry.note},
                      {"kind", entry.baseline           ? "library"
                               : entry.is_autoscheduled ? "autoscheduler"
                                                        : "schedule"}};
  if (entry.baseline && search::kind_of(*entry.baseline).is_fetched) json["fetched"] = true;
  if (entry.is_own() && !entry.note.empty()) json["rung"] = entry.note;
  if (entry.samples_ns.empty()) return json;
  json["median_ns"] = search::median(entry.samples_ns);
  if (!entry.ran()) return json;
  const auto interval = search::bootstrap_median(entry.samples_ns, seed);
  json["interval_ns"] = {interval.lo, interval.hi};
  json["p10_ns"] = search::quantile(entry.samples_ns, 0.1);
  json["p90_ns"] = search::quantile(entry.samples_ns, 0.9);
  json["samples_ns"] = entry.samples_ns;
  json["verify_error"] = entry.verify_error;
  json["disturbed"] = entry.disturbed;
  if (entry.launch_ns > 0) json["launch_ns"] = entry.launch_ns;
  json["gflops"] = row.flops / search::median(entry.samples_ns);
  json["gbytes"] = row.bytes / search::median(entry.samples_ns);
  add_roof_share(row, entry, seed, json);
  return json;
}

nlohmann::json row_json(const BenchRow& row, uint64_t seed) {
  nlohmann::json entries = nlohmann::json::array();
  for (const auto& entry : row.result.entries) entries.push_back(entry_json(row, entry, seed));
  nlohmann::json json{{"name", row.name},          {"group", row.group},
                      {"sizes", row.sizes},        {"layout", row.layout},
                      {"flops", row.flops},        {"bytes", row.bytes},
                      {"alone", row.result.alone}, {"checked", row.result.sampled ? "in part" : "in full"},
                      {"entries", entries}};
  if (!row.result.condition.empty()) json["device"] = row.result.condition;
  if (const Entry* best = best_baseline(row)) json["best_baseline"] = best->name;
  if (const Entry* best = best_packed_baseline(row)) json["best_packed_baseline"] = best->name;
  if (const Entry* best = best_autoscheduled(row)) json["best_autoscheduler"] = best->name;
  for (const auto& [name, key] : {std::pair{"default", "default_over_best"},
                                  {"tuned", "tuned_over_best"},
                                  {"default-packed", "default_packed_over_best_packed"},
                                  {"tuned-packed", "tuned_packed_over_best_packed"}})
    if (const auto ratio = ratio_to_best(row, name, seed)) json[key] = ratio_json(*ratio);
  for (const auto& [name, key] :
       {std::pair{"default", "default_over_autoscheduler"}, {"tuned", "tuned_over_autoscheduler"}})
    if (const auto ratio = ratio_to_autoscheduled(row, name, seed)) json[key] = ratio_json(*ratio);
  if (const auto gain = speed_ratio(find_entry(row, "tuned"), find_entry(row, "default"), seed))
    json["tuned_over_default"] = ratio_json(*gain);
  for (const char* other : {"default", "tuned"})
    if (const auto gain = speed_ratio(find_entry(row, "given"), find_entry(row, other), seed))
      json[fmt::format("given_over_{}", other)] = ratio_json(*gain);
  json["from_memory"] = row.from_memory;
  if (const Entry* plain = find_entry(row, "default"))
    json["roofs"] = {{"gflops", probed_rate(row.counted_flops, *plain, plain->flop_fractions)},
                     {"gbytes", probed_rate(row.counted_bytes, *plain, plain->bandwidth_fractions)}};
  return json;
}

}  // namespace

nlohmann::json bench_json(const std::vector<BenchRow>& rows, const std::vector<Unfinished>& failed,
                          const codegen::Target& target, uint64_t seed) {
  nlohmann::json workloads = nlohmann::json::array();
  for (const auto& row : rows) workloads.push_back(row_json(row, seed));
  nlohmann::json reasons = nlohmann::json::array();
  for (const auto& one : failed) reasons.push_back({{"name", one.name}, {"reason", one.why.message}});
  return {{"kind", "benchmark"},    {"format", 1},      {"target", codegen::to_json(target)}, {"seed", seed},
          {"workloads", workloads}, {"failed", reasons}};
}

}  // namespace tile_tune::engine
