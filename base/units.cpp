#include "base/units.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tile_tune::base {

namespace {

/// Three significant digits without an exponent, trailing zeros kept: 1.00, 12.3, 456.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

template <size_t N>
std::string scaled(double value, const std::array<const char*, N>& units) {
  size_t step = 0;
  // 999.5 would print as 1000.
  while (value >= 999.5 && step + 1 < N) {
    value /= 1000;
    ++step;
  }
  return three_digits(value) + " " + units[step];
}

}  // namespace

std::string format_time(double nanoseconds) { return scaled(nanoseconds, std::array{"ns", "µs", "ms", "s"}); }

std::string format_bytes(double bytes) {
  if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
  return scaled(bytes, std::array{"B", "kB", "MB", "GB", "TB", "PB", "EB"});
}

std::string format_count(double count, const std::string& unit) {
  if (count < 1000) return fmt::format("{:.0f} {}", count, unit);
  return scaled(count, std::array{"", "k", "M", "G", "T", "P", "E"}) + unit;
}

std::string format_percent(double fraction) {
  return fraction > 0 && std::isfinite(fraction) ? fmt::format("{:.1f} %", 100 * fraction) : "-";
}

std::string format_date(int64_t milliseconds) {
  constexpr int64_t kEndOf9999 = 253'402'300'799'999;  // a stored time may be any number
  milliseconds = std::clamp<int64_t>(milliseconds, 0, kEndOf9999);
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(milliseconds / 1000)));
}

std::string format_number(size_t count, const std::string& noun, const std::string& nouns) {
  if (count == 1) return "1 " + noun;
  return fmt::format("{} {}", count, nouns.empty() ? noun + "s" : nouns);
}

}  // namespace tile_tune::base
