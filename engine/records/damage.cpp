#include "engine/records/damage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tile_tune::engine {

std::string damage_text(const std::vector<std::string>& records) {
  constexpr size_t kShown = 3;
  if (records.size() == 1) return fmt::format("the record {} is damaged and was left out", records.front());
  const auto shown = records.begin() + static_cast<long>(std::min(kShown, records.size()));
  return fmt::format("{} records are damaged and were left out: {}{}", records.size(),
                     fmt::join(records.begin(), shown, ", "), records.size() > kShown ? ", ..." : "");
}

}  // namespace tile_tune::engine
