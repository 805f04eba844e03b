#include "engine/sized/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include "engine/programs/bindings.h"

namespace tile_tune::engine {

namespace {

using codegen::EntrySize;
using Points = std::vector<std::vector<int64_t>>;

/// With a list, sizes up to here are computed, too: beyond it, codegen::cell_of() does not tell sizes apart.
constexpr int64_t kLargest = int64_t{1} << 20;

std::optional<int64_t> whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > INT32_MAX) return std::nullopt;
  return value;
}

std::optional<EntrySize> parse(const std::string& name, const std::string& text) {
  EntrySize size{name};
  if (const size_t dots = text.find(".."); dots != std::string::npos) {
    const auto first = whole(std::string_view(text).substr(0, dots)),
               last = whole(std::string_view(text).substr(dots + 2));
    if (!first || !last || *first >= *last) return std::nullopt;
    size.first = *first;
    size.last = *last;
    return size;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const auto value = whole(std::string_view(text).substr(begin, comma - begin));
    if (!value) return std::nullopt;
    size.listed.push_back(*value);
    begin = comma + 1;
  }
  std::sort(size.listed.begin(), size.listed.end());
  size.listed.erase(std::unique(size.listed.begin(), size.listed.end()), size.listed.end());
  size.last = std::max(kLargest, size.listed.back());
  return size;
}

/// Whether one of the numbers of a range or list is 0.
bool names_zero(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(".,"), text.size());
    if (end > 0 && text.substr(0, end).find_first_not_of('0') == std::string_view::npos) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

/// `count` values at equal ratios, both ends among them.
std::set<int64_t> spread(int64_t first, int64_t last, size_t count, bool odd) {
  std::set<int64_t> values{first, last};
  const double low = std::log2(static_cast<double>(first)), high = std::log2(static_cast<double>(last));
  for (size_t i = 1; i + 1 < count; ++i) {
    const double at = low + (high - low) * static_cast<double>(i) / static_cast<double>(count - 1);
    const auto value = static_cast<int64_t>(std::llround(std::exp2(at)));
    values.insert(std::clamp(odd && i % 2 == 1 ? value | 1 : value, first, last));
  }
  return values;
}

std::set<int64_t> values_to_time(const EntrySize& size, size_t count, bool alone) {
  if (!size.listed.empty()) return {size.listed.begin(), size.listed.end()};
  const auto small = alone ? static_cast<int64_t>(std::min(kSmall, count / 2)) : 0;
  const int64_t after = std::min(size.first + small, size.last);
  auto values = spread(after, size.last, count - static_cast<size_t>(small), true);
  for (int64_t value = size.first; value < after; ++value) values.insert(value);
  return values;
}

Points product(const std::vector<std::set<int64_t>>& values) {
  Points points{{}};
  for (const auto& of_size : values) {
    Points longer;
    for (const auto& point : points)
      for (const int64_t value : of_size) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    points = std::move(longer);
  }
  return points;
}

/// So many values of each size that the product has about `count`.
size_t each_of(size_t count, size_t sizes) {
  const double root = std::pow(static_cast<double>(count), 1.0 / static_cast<double>(sizes));
  return std::max<size_t>(2, static_cast<size_t>(std::floor(root + 1e-9)));
}

/// The first, the middle, the middles of the halves, ...: numbers below `count` in the order of their bits from the
/// lowest on.
std::vector<size_t> far_apart(size_t count) {
  std::vector<size_t> order;
  for (size_t step = std::bit_ceil(count); step > 0; step /= 2)
    for (size_t i = 0; i < count; i += step)
      if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  return order;
}

}  // namespace

Result<std::vector<EntrySize>> take_entry_sizes(std::vector<std::string>& assignments) {
  std::vector<EntrySize> sizes;
  std::vector<std::string> single;
  for (const auto& text : separate_assignments(assignments)) {
    const auto assignment = split_assignment(text);
    if (!assignment || assignment->second.find_first_of(".,") == std::string::npos || is_fraction(assignment->second)) {
      single.push_back(text);
      continue;
    }
    const std::string name = name_of_size(assignment->first);
    auto size = parse(name, assignment->second);
    if (!size && names_zero(assignment->second))
      return fail(ErrorClass::Program, "bad-size",
                  fmt::format("'{}' has the size 0, which an entry for many sizes cannot take", text),
                  fmt::format("begin at 1 and do not call it where {0} is 0, or build for {0}=0 alone", name));
    if (!size)
      return fail(ErrorClass::Program, "bad-size", fmt::format("'{}' is no range and no list of sizes", text),
                  "write -s N=1..512 or -s N=64,128,200, with sizes from 1 on");
    if (std::any_of(sizes.begin(), sizes.end(), [&](const auto& other) { return other.name == name; }))
      return fail(ErrorClass::Program, "bad-size", fmt::format("size {} is given twice", name));
    sizes.push_back(std::move(*size));
  }
  if (sizes.size() > codegen::kMostSizes)
    return fail(ErrorClass::Program, "bad-size",
                fmt::format("at most {} sizes may have many values", codegen::kMostSizes));
  for (const auto& text : single)
    for (const auto& size : sizes)
      if (const auto assignment = split_assignment(text); assignment && name_of_size(assignment->first) == size.name)
        return fail(ErrorClass::Program, "bad-size", fmt::format("size {} is given twice", size.name));
  assignments = std::move(single);
  return sizes;
}

std::vector<std::vector<int64_t>> points_to_search(const std::vector<EntrySize>& sizes, size_t count) {
  std::vector<std::set<int64_t>> values;
  for (const auto& size : sizes)
    values.push_back(size.listed.empty() ? spread(size.first, size.last, each_of(count, sizes.size()), false)
                                         : std::set<int64_t>(size.listed.begin(), size.listed.end()));
  Points points = product(values);
  std::reverse(points.begin(), points.end());
  return points;
}

std::vector<std::vector<int64_t>> points_to_time(const std::vector<EntrySize>& sizes, const Points& searched,
                                                 size_t count) {
  std::vector<std::set<int64_t>> values;
  for (const auto& size : sizes)
    values.push_back(values_to_time(size, each_of(count, sizes.size()), sizes.size() == 1));
  const Points all = product(values);
  Points points = searched;
  for (const size_t number : far_apart(all.size()))
    if (std::find(points.begin(), points.end(), all[number]) == points.end()) points.push_back(all[number]);
  return points;
}

bool has_range(const std::vector<EntrySize>& sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [](const auto& size) { return size.listed.empty(); });
}

std::string entry_sizes_text(const std::vector<EntrySize>& sizes) {
  std::vector<std::string> parts;
  for (const auto& [name, first, last, listed] : sizes)
    parts.push_back(listed.empty() ? fmt::format("{}={}..{}", name, first, last)
                                   : fmt::format("{}={}", name, fmt::join(listed, ",")));
  return fmt::format("{}", fmt::join(parts, " "));
}

std::string point_text(const std::vector<EntrySize>& sizes, const std::vector<int64_t>& point) {
  std::vector<std::string> parts;
  for (size_t k = 0; k < sizes.size(); ++k) parts.push_back(fmt::format("{}={}", sizes[k].name, point[k]));
  return fmt::format("{}", fmt::join(parts, " "));
}

}  // namespace tile_tune::engine
