#include "codegen/emit/sized_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <nlohmann/json.hpp>

#include "codegen/schedule/check.h"
#include "frontend/ir/canonical.h"
#include "frontend/ir/index_checks.h"

namespace tile_tune::codegen {
namespace {

constexpr int kLastDoubling = 20;  // sizes beyond a million are one cell

/// Binding and canonicalizing a program of one statement takes 0.1 to 1 ms.
constexpr size_t kMostTried = 64;

tl::unexpected<Diagnostic> bad(const std::string& what) {
  return fail(ErrorClass::Program, "bad-family", fmt::format("the kernels for many sizes do not fit: {}", what));
}

std::vector<size_t> cells_of_place(size_t sizes, size_t place) {
  const size_t count = cell_count(bits_for(sizes));
  std::vector<size_t> cells(sizes);
  for (size_t k = sizes; k-- > 0; place /= count) cells[k] = place % count;
  return cells;
}

/// Each size by itself with the others at their first and at their last value, then all together.
std::vector<std::vector<int64_t>> sizes_to_try(const std::vector<EntrySize>& sizes) {
  std::vector<int64_t> low, high;
  for (const auto& size : sizes) {
    low.push_back(size.first);
    high.push_back(size.last);
  }
  std::vector<std::vector<int64_t>> tried{low, high};
  const size_t each = kMostTried / sizes.size();
  for (size_t k = 0; k < sizes.size(); ++k) {
    std::set<int64_t> values;
    const auto [name, first, last, listed] = sizes[k];
    for (int64_t v = first; v <= last && v < first + 16; ++v) values.insert(v);
    const double step = std::log2(static_cast<double>(last) / static_cast<double>(first)) / static_cast<double>(each);
    for (size_t i = 0; i < each; ++i) {
      const auto value = static_cast<int64_t>(static_cast<double>(first) * std::exp2(step * static_cast<double>(i)));
      values.insert(std::clamp(value + static_cast<int64_t>(i % 2), first, last));
    }
    values.insert(listed.begin(), listed.end());
    for (const int64_t value : values)
      for (const auto& others : {low, high}) {
        tried.push_back(others);
        tried.back()[k] = value;
        if (sizes.size() == 1) break;
      }
  }
  return tried;
}

}  // namespace

int bits_for(size_t sizes) { return sizes == 1 ? 3 : sizes == 2 ? 2 : 0; }

size_t cell_of(int64_t size, int bits) {
  const auto n = static_cast<uint64_t>(size);
  const int doubling = std::bit_width(n) - 1;
  if (doubling < bits) return n;
  if (doubling >= kLastDoubling) return cell_count(bits) - 1;
  return (static_cast<size_t>(doubling - bits + 1) << bits) + ((n >> (doubling - bits)) - (uint64_t{1} << bits));
}

size_t cell_count(int bits) { return (static_cast<size_t>(kLastDoubling - bits + 1) << bits) + 1; }

int64_t first_of_cell(size_t cell, int bits) {
  if (cell >= cell_count(bits) - 1) return int64_t{1} << kLastDoubling;
  const size_t block = cell >> bits, rest = cell & ((size_t{1} << bits) - 1);
  if (block == 0) return static_cast<int64_t>(cell);
  return static_cast<int64_t>(((size_t{1} << bits) + rest) << (block - 1));
}

std::optional<CellSizes> sizes_of_cell(const std::vector<EntrySize>& sizes, size_t cell) {
  const int bits = bits_for(sizes.size());
  const auto cells = cells_of_place(sizes.size(), cell);
  CellSizes result;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const bool is_last = cells[k] + 1 == cell_count(bits);
    const int64_t end = is_last ? sizes[k].last : first_of_cell(cells[k] + 1, bits) - 1;
    result.first.push_back(std::max(sizes[k].first, first_of_cell(cells[k], bits)));
    result.last.push_back(std::min(sizes[k].last, end));
    if (result.first.back() > result.last.back()) return std::nullopt;
  }
  return result;
}

Result<ir::Program> SizedProgram::at(const std::vector<int64_t>& values) const {
  ir::Sizes all = fixed;
  for (size_t k = 0; k < sizes.size(); ++k) all[sizes[k].name] = values[k];
  TILE_TUNE_TRY(bound, ir::bind(symbolic, all));
  // A kernel's strides are the same at all sizes, also along a dimension that here has one element.
  for (size_t t = 0; t < symbolic.tensors.size(); ++t)
    if (!symbolic.tensors[t].storage.is_compact()) bound.tensors[t].storage = symbolic.tensors[t].storage;
  const ir::Program program = ir::canonicalize(bound);
  return checks_indices ? ir::with_index_checks(program) : program;
}

std::vector<int64_t> SizedProgram::top() const {
  std::vector<int64_t> values;
  for (const auto& size : sizes) values.push_back(size.listed.empty() ? size.last : size.listed.back());
  return values;
}

Result<std::vector<RuntimeSize>> runtime_sizes_of(const SizedProgram& program) {
  std::vector<std::string> names;
  for (const auto& size : program.sizes) names.push_back(size.name);
  return find_runtime_sizes([&](const std::vector<int64_t>& values) { return program.at(values); }, names,
                            sizes_to_try(program.sizes));
}

Result<EntryMember> member_for_many(const SizedEntry& entry, const std::vector<int64_t>& values,
                                    const Schedule& schedule, bool guarded) {
  TILE_TUNE_TRY(program, entry.program.at(values));
  TILE_TUNE_TRY(many, for_all_sizes(program, schedule, entry.runtime, guarded));
  return EntryMember{values, false, std::move(program), std::move(many)};
}

bool serves_cell(const SizedEntry& entry, const EntryMember& member, size_t cell) {
  if (member.only) return false;
  const auto sizes = sizes_of_cell(entry.program.sizes, cell);
  if (!sizes || member.schedule.runtime.guarded) return true;
  return serves(member.program, member.schedule, sizes->first);
}

std::vector<std::vector<int64_t>> sizes_to_check(const SizedEntry& entry, size_t member) {
  const auto& one = entry.members[member];
  if (one.only) return {one.at};
  std::vector<CellSizes> cells;
  for (size_t cell = 0; cell < entry.table.size(); ++cell) {
    if (entry.table[cell] != member) continue;
    if (auto sizes = sizes_of_cell(entry.program.sizes, cell)) cells.push_back(std::move(*sizes));
  }
  std::set<std::vector<int64_t>> points;
  const auto top = entry.program.top();
  // Beyond twice the largest size that was asked for the reference would take long.
  const auto clipped = [&](std::vector<int64_t> point) {
    for (size_t k = 0; k < point.size(); ++k) point[k] = std::min(point[k], 2 * top[k]);
    return point;
  };
  const auto add = [&](size_t cell) {
    points.insert(clipped(cells[cell].first));
    points.insert(clipped(cells[cell].last));
  };
  if (!cells.empty()) {
    add(0);
    add(cells.size() / 2);
    add(cells.size() - 1);
  }
  // The last one may be sent anything.
  if (member + 1 == entry.members.size())
    for (const int64_t prime : {1, 7, 61}) {
      std::vector<int64_t> point;
      for (size_t k = 0; k < top.size(); ++k)
        point.push_back(std::clamp(prime, entry.program.sizes[k].first, entry.program.sizes[k].last));
      points.insert(clipped(point));
    }
  return {points.begin(), points.end()};
}

nlohmann::json to_json(const SizedEntry& entry) {
  nlohmann::json sizes = nlohmann::json::array(), members = nlohmann::json::array();
  for (const auto& size : entry.program.sizes)
    sizes.push_back({{"name", size.name}, {"first", size.first}, {"last", size.last}, {"listed", size.listed}});
  for (const auto& one : entry.members)
    members.push_back({{"at", one.at},
                       {"only", one.only},
                       {"guarded", one.schedule.runtime.guarded},
                       {"schedule", to_json(one.schedule)},
                       {"schedule_id", schedule_id(one.schedule)},
                       {"record", one.record}});
  return {{"sizes", std::move(sizes)}, {"members", std::move(members)}, {"table", entry.table}};
}

namespace {

bool is_admissible(const EntrySize& size) {
  return !size.name.empty() && size.first >= 1 && size.first <= size.last && size.last <= INT32_MAX &&
         std::is_sorted(size.listed.begin(), size.listed.end()) &&
         (size.listed.empty() || (size.listed.front() >= size.first && size.listed.back() <= size.last));
}

Result<EntryMember> read_member(const nlohmann::json& json, const SizedEntry& entry) {
  TILE_TUNE_TRY(schedule, schedule_from_json(json.at("schedule")));
  const auto at = json.at("at").get<std::vector<int64_t>>();
  if (at.size() != entry.program.sizes.size()) return bad("a kernel lacks sizes");
  for (size_t k = 0; k < at.size(); ++k)
    if (at[k] < entry.program.sizes[k].first || at[k] > entry.program.sizes[k].last)
      return bad("a kernel is for a size outside the range");
  TILE_TUNE_TRY(program, entry.program.at(at));
  EntryMember member{at, json.at("only").get<bool>(), std::move(program), std::move(schedule), json.at("record")};
  if (!member.only) member.schedule.runtime = {entry.runtime, json.at("guarded").get<bool>()};
  TILE_TUNE_CHECK(check(member.program, member.schedule));
  return member;
}

Result<void> check_table(const SizedEntry& entry) {
  if (entry.members.empty() || entry.members.size() > kMostMembers) return bad("there are too few or too many kernels");
  if (entry.table.empty()) return {};
  const auto& last = entry.members.back();
  if (last.only || !last.schedule.runtime.guarded) return bad("no kernel serves every size");
  size_t cells = 1;
  for (size_t k = 0; k < entry.program.sizes.size(); ++k) cells *= cell_count(bits_for(entry.program.sizes.size()));
  if (entry.table.size() != cells) return bad("the table has another number of cells");
  for (size_t cell = 0; cell < cells; ++cell)
    if (entry.table[cell] >= entry.members.size() || !serves_cell(entry, entry.members[entry.table[cell]], cell))
      return bad("the table names a kernel that does not serve all sizes there");
  return {};
}

}  // namespace

Result<SizedEntry> entry_from_json(const nlohmann::json& json, ir::Program symbolic, ir::Sizes fixed) try {
  SizedEntry entry{{std::move(symbolic), std::move(fixed), {}}, {}, {}, {}};
  // Before anything is made of them, which takes time for each.
  if (json.at("sizes").size() > kMostSizes) return bad("an entry takes one to three sizes");
  if (json.at("members").size() > kMostMembers) return bad("there are too few or too many kernels");
  for (const auto& one : json.at("sizes")) {
    EntrySize size{one.at("name"), one.at("first"), one.at("last"), one.at("listed")};
    if (!is_admissible(size)) return bad("a range of sizes is none");
    entry.program.sizes.push_back(std::move(size));
  }
  if (entry.program.sizes.empty()) return bad("an entry takes one to three sizes");
  for (const int64_t member : json.at("table").get<std::vector<int64_t>>()) {
    if (member < 0 || member >= static_cast<int64_t>(kMostMembers)) return bad("the table names no kernel");
    entry.table.push_back(static_cast<uint8_t>(member));
  }
  TILE_TUNE_TRY(runtime, runtime_sizes_of(entry.program));
  entry.runtime = std::move(runtime);
  for (const auto& one : json.at("members")) {
    TILE_TUNE_TRY(member, read_member(one, entry));
    entry.members.push_back(std::move(member));
  }
  TILE_TUNE_CHECK(check_table(entry));
  return entry;
} catch (const nlohmann::json::exception&) {
  return bad("a field is missing or of the wrong type");
}

}  // namespace tile_tune::codegen
