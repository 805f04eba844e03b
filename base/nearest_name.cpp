#include "base/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace tile_tune::base {

namespace {

/// Levenshtein's distance; changing the case of a letter costs nothing.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const bool same =
          std::tolower(static_cast<unsigned char>(a[i])) == std::tolower(static_cast<unsigned char>(b[j]));
      const size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names) {
  constexpr size_t kLongest = 64;  // longer words are no slips, and the distance is quadratic
  std::string nearest;
  size_t fewest = (wrong.size() + 1) / 2;
  if (wrong.size() > kLongest) return nearest;
  for (const auto& name : names) {
    if (name.size() > kLongest) continue;
    if (const size_t count = edits(wrong, name); count < fewest) {
      fewest = count;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace tile_tune::base
