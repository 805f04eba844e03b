#include "cli/option_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace tile_tune::cli {

namespace {

/// The number that the whole of a text is.
template <typename Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

void refuse_empty(Option option) {
  option.check([](const std::string& value) { return value.empty() ? "needs a value that is not empty" : ""; });
}

void need_positive_seconds(Option option) {
  constexpr double kMost = 1e9;  // thirty years
  option.check([](const std::string& value) {
    const auto seconds = number_in<double>(value);
    return seconds && *seconds > 0 && *seconds <= kMost ? "" : "needs a positive number of seconds, 1e9 at most";
  });
}

void need_seed(Option option) {
  option.check([](const std::string& value) {
    return number_in<uint64_t>(value) ? "" : "needs a whole number from 0 to 18446744073709551615";
  });
}

ValueCheck whole_number(int from, int to) {
  return [from, to](const std::string& value) {
    const auto number = number_in<int>(value);
    return number && *number >= from && *number <= to ? std::string()
                                                      : fmt::format("needs a whole number from {} to {}", from, to);
  };
}

}  // namespace tile_tune::cli
