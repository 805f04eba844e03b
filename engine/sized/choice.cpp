#include "engine/sized/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/sized/sizes.h"

namespace tile_tune::engine {

namespace {

using codegen::EntryMember;
using codegen::SizedEntry;

/// Races rank kernels rightly that differ by more (search/timing/contests.h, Race).
constexpr double kNoise = 1.03;

double distance(const std::vector<int64_t>& a, const std::vector<double>& log_b) {
  double sum = 0;
  for (size_t k = 0; k < a.size(); ++k) sum += std::abs(std::log2(static_cast<double>(a[k])) - log_b[k]);
  return sum;
}

const TimedPoint& nearest(const std::vector<TimedPoint>& points, const codegen::CellSizes& cell) {
  std::vector<double> middle;
  for (size_t k = 0; k < cell.first.size(); ++k)
    middle.push_back((std::log2(static_cast<double>(cell.first[k])) + std::log2(static_cast<double>(cell.last[k]))) /
                     2);
  return *std::min_element(points.begin(), points.end(), [&](const TimedPoint& a, const TimedPoint& b) {
    return distance(a.at, middle) < distance(b.at, middle);
  });
}

/// The candidate for a cell: the generic one unless another is faster.
size_t fastest(const SizedEntry& entry, const TimedPoint& point, size_t cell) {
  const size_t generic = entry.members.size() - 1;
  size_t best = generic;
  double speed = kNoise;
  for (size_t i = 0; i < generic; ++i) {
    if (point.many[i] <= speed || !codegen::serves_cell(entry, entry.members[i], cell)) continue;
    best = i;
    speed = point.many[i];
  }
  return best;
}

size_t cell_of_point(const std::vector<int64_t>& at) {
  const int bits = codegen::bits_for(at.size());
  size_t place = 0;
  for (const int64_t size : at) place = place * codegen::cell_count(bits) + codegen::cell_of(size, bits);
  return place;
}

struct Own {
  EntryMember member;
  double gain = 0;  // over what the table has there
};

/// The best kernel for the point alone, if it is worth its room.
std::optional<Own> own_kernel(const SizedEntry& entry, TimedPoint& point) {
  if (point.own.empty()) return std::nullopt;
  const auto best = static_cast<size_t>(std::max_element(point.own_speeds.begin(), point.own_speeds.end()) -
                                        point.own_speeds.begin());
  const double speed = point.own_speeds[best];
  double others = 1e-9;  // nothing else computes it
  if (!entry.members.empty()) {
    const size_t other = entry.table[cell_of_point(point.at)];
    others = other + 1 == entry.members.size() ? 1 : point.many[other];
  }
  bool listed = true;
  for (size_t k = 0; k < point.at.size(); ++k) {
    const auto& list = entry.program.sizes[k].listed;
    listed = listed && std::binary_search(list.begin(), list.end(), point.at[k]);
  }
  if (speed <= 0 || speed < others * (listed ? 1 : kNoise)) return std::nullopt;
  point.own[best].record = {{"speed_of_generic", speed}};
  return Own{std::move(point.own[best]), speed / others};
}

/// Leaves out the candidates that no cell names.
void keep_used(SizedEntry& entry) {
  if (entry.members.empty()) return;
  std::vector<bool> used(entry.members.size(), false);
  used.back() = true;
  for (const uint8_t member : entry.table) used[member] = true;
  std::vector<uint8_t> places(entry.members.size());
  std::vector<EntryMember> kept;
  for (size_t i = 0; i < entry.members.size(); ++i) {
    places[i] = static_cast<uint8_t>(kept.size());
    if (used[i]) kept.push_back(std::move(entry.members[i]));
  }
  for (auto& member : entry.table) member = places[member];
  entry.members = std::move(kept);
}

void fill_table(SizedEntry& entry, const std::vector<TimedPoint>& points) {
  size_t cells = 1;
  for (size_t k = 0; k < entry.program.sizes.size(); ++k)
    cells *= codegen::cell_count(codegen::bits_for(entry.program.sizes.size()));
  entry.table.assign(cells, static_cast<uint8_t>(entry.members.size() - 1));
  for (size_t cell = 0; cell < cells && !points.empty(); ++cell)
    if (const auto sizes = codegen::sizes_of_cell(entry.program.sizes, cell))
      entry.table[cell] = static_cast<uint8_t>(fastest(entry, nearest(points, *sizes), cell));
}

}  // namespace

SizedEntry choose_members(SizedEntry entry, std::vector<TimedPoint> points) {
  if (!entry.members.empty()) fill_table(entry, points);
  std::vector<Own> own;
  for (auto& point : points)
    if (auto one = own_kernel(entry, point)) own.push_back(std::move(*one));
  std::stable_sort(own.begin(), own.end(), [](const Own& a, const Own& b) { return a.gain > b.gain; });
  if (has_range(entry.program.sizes) && own.size() > kMostOwn) own.erase(own.begin() + kMostOwn, own.end());
  keep_used(entry);
  const size_t room = codegen::kMostMembers - entry.members.size();
  if (own.size() > room) own.erase(own.begin() + static_cast<std::ptrdiff_t>(room), own.end());
  std::sort(own.begin(), own.end(), [](const Own& a, const Own& b) { return a.member.at < b.member.at; });
  // Kernels for one size come first, so that the generic one stays last.
  for (auto& member : entry.table) member = static_cast<uint8_t>(member + own.size());
  std::vector<EntryMember> members;
  for (auto& one : own) members.push_back(std::move(one.member));
  for (auto& one : entry.members) members.push_back(std::move(one));
  entry.members = std::move(members);
  return entry;
}

}  // namespace tile_tune::engine
