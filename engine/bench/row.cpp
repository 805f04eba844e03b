#include "engine/bench/row.h"

namespace tile_tune::engine {

using search::Entry;

namespace {

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

const Entry* at(const BenchRow& row, int index) {
  return index < 0 ? nullptr : &row.result.entries[static_cast<size_t>(index)];
}

}  // namespace

const Entry* find_entry(const BenchRow& row, const std::string& name) {
  for (const auto& entry : row.result.entries)
    if (entry.name == name && entry.ran()) return &entry;
  return nullptr;
}

const Entry* best_baseline(const BenchRow& row) { return at(row, search::best_baseline(row.result.entries)); }
const Entry* best_packed_baseline(const BenchRow& row) {
  return at(row, search::best_packed_baseline(row.result.entries));
}
const Entry* best_autoscheduled(const BenchRow& row) { return at(row, search::best_autoscheduled(row.result.entries)); }

bool is_packed(const std::string& name) { return name.ends_with("-packed"); }

std::optional<search::Ratio> speed_ratio(const Entry* one, const Entry* other, uint64_t seed) {
  if (!one || !other) return std::nullopt;
  return search::speed_ratio(*one, *other, seed);
}

std::optional<search::Ratio> ratio_to_best(const BenchRow& row, const std::string& name, uint64_t seed) {
  return speed_ratio(find_entry(row, name), is_packed(name) ? best_packed_baseline(row) : best_baseline(row), seed);
}

std::optional<search::Ratio> ratio_to_autoscheduled(const BenchRow& row, const std::string& name, uint64_t seed) {
  return speed_ratio(find_entry(row, name), best_autoscheduled(row), seed);
}

std::vector<double> limiting_shares(const BenchRow& row, const Entry& entry) {
  if (entry.flop_fractions.empty()) return {};
  const auto flops = scaled(entry.flop_fractions, row.counted_flops > 0 ? row.flops / row.counted_flops : 1);
  const bool by_memory = row.from_memory && search::median(entry.bandwidth_fractions) > search::median(flops);
  return by_memory ? entry.bandwidth_fractions : flops;
}

double roof_share(const BenchRow& row, const Entry& entry) {
  const auto shares = limiting_shares(row, entry);
  if (shares.empty()) return 0;
  const double share = search::median(shares);
  return share > kLargestShare ? 0 : share;
}

}  // namespace tile_tune::engine
