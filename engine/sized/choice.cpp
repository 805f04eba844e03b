#include "engine/sized/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/sized/sizes.h"

namespace tile_tune::engine {

namespace {

using codegen::Family;
using codegen::FamilyMember;

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
size_t fastest(const Family& family, const TimedPoint& point, size_t cell) {
  const size_t generic = family.members.size() - 1;
  size_t best = generic;
  double speed = kNoise;
  for (size_t i = 0; i < generic; ++i) {
    if (point.many[i] <= speed || !codegen::serves_cell(family, family.members[i], cell)) continue;
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
  FamilyMember member;
  double gain = 0;  // over what the table has there
};

/// The best kernel for the point alone, if it is worth its room.
std::optional<Own> own_kernel(const Family& family, TimedPoint& point) {
  if (point.own.empty()) return std::nullopt;
  const auto best = static_cast<size_t>(std::max_element(point.own_speeds.begin(), point.own_speeds.end()) -
                                        point.own_speeds.begin());
  const double speed = point.own_speeds[best];
  double others = 1e-9;  // nothing else computes it
  if (!family.members.empty()) {
    const size_t other = family.table[cell_of_point(point.at)];
    others = other + 1 == family.members.size() ? 1 : point.many[other];
  }
  bool listed = true;
  for (size_t k = 0; k < point.at.size(); ++k) {
    const auto& list = family.program.sizes[k].listed;
    listed = listed && std::binary_search(list.begin(), list.end(), point.at[k]);
  }
  if (speed <= 0 || speed < others * (listed ? 1 : kNoise)) return std::nullopt;
  point.own[best].record = {{"speed_of_generic", speed}};
  return Own{std::move(point.own[best]), speed / others};
}

/// Leaves out the candidates that no cell names.
void keep_used(Family& family) {
  if (family.members.empty()) return;
  std::vector<bool> used(family.members.size(), false);
  used.back() = true;
  for (const uint8_t member : family.table) used[member] = true;
  std::vector<uint8_t> places(family.members.size());
  std::vector<FamilyMember> kept;
  for (size_t i = 0; i < family.members.size(); ++i) {
    places[i] = static_cast<uint8_t>(kept.size());
    if (used[i]) kept.push_back(std::move(family.members[i]));
  }
  for (auto& member : family.table) member = places[member];
  family.members = std::move(kept);
}

void fill_table(Family& family, const std::vector<TimedPoint>& points) {
  size_t cells = 1;
  for (size_t k = 0; k < family.program.sizes.size(); ++k)
    cells *= codegen::cell_count(codegen::bits_for(family.program.sizes.size()));
  family.table.assign(cells, static_cast<uint8_t>(family.members.size() - 1));
  for (size_t cell = 0; cell < cells && !points.empty(); ++cell)
    if (const auto sizes = codegen::sizes_of_cell(family.program.sizes, cell))
      family.table[cell] = static_cast<uint8_t>(fastest(family, nearest(points, *sizes), cell));
}

}  // namespace

Family choose_members(Family family, std::vector<TimedPoint> points) {
  if (!family.members.empty()) fill_table(family, points);
  std::vector<Own> own;
  for (auto& point : points)
    if (auto one = own_kernel(family, point)) own.push_back(std::move(*one));
  std::stable_sort(own.begin(), own.end(), [](const Own& a, const Own& b) { return a.gain > b.gain; });
  if (has_range(family.program.sizes) && own.size() > kMostOwn) own.erase(own.begin() + kMostOwn, own.end());
  keep_used(family);
  const size_t room = codegen::kMostMembers - family.members.size();
  if (own.size() > room) own.erase(own.begin() + static_cast<std::ptrdiff_t>(room), own.end());
  std::sort(own.begin(), own.end(), [](const Own& a, const Own& b) { return a.member.at < b.member.at; });
  // Kernels for one size come first, so that the generic one stays last.
  for (auto& member : family.table) member = static_cast<uint8_t>(member + own.size());
  std::vector<FamilyMember> members;
  for (auto& one : own) members.push_back(std::move(one.member));
  for (auto& one : family.members) members.push_back(std::move(one));
  family.members = std::move(members);
  return family;
}

}  // namespace tile_tune::engine
