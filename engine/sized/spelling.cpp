#include "engine/sized/spelling.h"

#include <algorithm>
#include <numeric>
#include <nlohmann/json.hpp>

namespace tile_tune::engine {

namespace {

using nlohmann::json;

/// For each size of the workload its place among the stored ones.
using Order = std::vector<size_t>;

/// The range or list of a size, without its name.
json range_of(json size) {
  if (size.is_object()) size.erase("name");
  return size;
}

bool is_list(const json& value, size_t size) { return value.is_array() && value.size() == size; }

/// The first order, that of the command line before others, in which ranges and names or roles agree.
Result<std::optional<Order>> order_of(const json& stored, const json& wanted, const SizedWorkload& workload) {
  if (!stored.is_object() || !is_list(stored.value("sizes", json()), wanted.size())) return std::nullopt;
  const json& sizes = stored.at("sizes");
  std::vector<std::string> roles;
  if (stored.contains("roles")) {
    if (!is_list(stored.at("roles"), wanted.size())) return std::nullopt;
    TILE_TUNE_TRY(own, size_roles(workload));
    roles = std::move(own);
  }
  const auto agrees = [&](size_t k, size_t place) {
    if (range_of(sizes[place]) != range_of(wanted[k])) return false;
    return roles.empty() ? sizes[place] == wanted[k] : stored.at("roles")[place] == roles[k];
  };
  Order order(wanted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  do {
    size_t k = 0;
    while (k < order.size() && agrees(k, order[k])) ++k;
    if (k == order.size()) return order;
  } while (std::next_permutation(order.begin(), order.end()));
  return std::nullopt;
}

void reorder(json& point, const Order& order) {
  if (!is_list(point, order.size())) return;
  const json stored = point;
  for (size_t k = 0; k < order.size(); ++k) point[k] = stored[order[k]];
}

void reorder_table(json& table, const Order& order) {
  const size_t count = codegen::cell_count(codegen::bits_for(order.size()));
  size_t cells = 1;
  for (size_t k = 0; k < order.size(); ++k) cells *= count;
  if (!is_list(table, cells)) return;
  const json stored = table;
  for (size_t cell = 0; cell < cells; ++cell) {
    std::vector<size_t> digits(order.size());  // of the cell among the stored ones
    size_t rest = cell, place = 0;
    for (size_t k = order.size(); k-- > 0; rest /= count) digits[order[k]] = rest % count;
    for (const size_t digit : digits) place = place * count + digit;
    table[cell] = stored[place];
  }
}

}  // namespace

Result<std::vector<std::string>> size_roles(const SizedWorkload& workload) {
  const auto& sizes = workload.program.sizes;
  std::vector<std::string> roles;
  for (size_t k = 0; k < sizes.size(); ++k) {
    auto point = workload.program.top();
    point[k] = sizes[k].listed.empty() ? sizes[k].first : sizes[k].listed.front();
    TILE_TUNE_TRY(one, workload.at(point));
    roles.push_back(one.row.content_hash);
  }
  return roles;
}

Result<std::optional<json>> spelled_as(json stored, const SizedWorkload& workload) {
  const json wanted = codegen::to_json(codegen::SizedEntry{workload.program, {}, {}, {}}).at("sizes");
  TILE_TUNE_TRY(order, order_of(stored, wanted, workload));
  if (!order) return std::nullopt;
  stored["sizes"] = wanted;
  reorder_table(stored["table"], *order);
  for (auto& member : stored["members"]) {
    if (!member.is_object()) continue;
    reorder(member["at"], *order);
    if (member["record"].is_object() && member["record"].contains("tuned_at"))
      reorder(member["record"]["tuned_at"], *order);
  }
  return std::optional<json>(std::move(stored));
}

}  // namespace tile_tune::engine
