#include "frontend/diagnostic/utf8.h"

#include <fmt/format.h>

namespace tile_tune {

std::optional<CodePoint> first_code_point(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80 ? 1 : (first >> 5) == 6 ? 2 : (first >> 4) == 14 ? 3 : (first >> 3) == 30 ? 4 : 0;
  if (length == 0 || text.size() < length) return std::nullopt;
  uint32_t value = length == 1 ? first : first & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return std::nullopt;
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || is_surrogate || value > 0x10FFFF) return std::nullopt;
  return CodePoint{value, length};
}

int count_characters(std::string_view text) {
  int count = 0;
  for (; !text.empty(); ++count) {
    const auto code = first_code_point(text);
    text.remove_prefix(code ? code->length : 1);
  }
  return count;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto code = first_code_point(text);
    const bool is_control = code && ((code->value < 0x20 && code->value != '\t' && code->value != '\n') ||
                                     (code->value >= 0x7F && code->value < 0xA0));
    const size_t length = code ? code->length : 1;
    for (size_t i = 0; i < length; ++i) {
      if (code && !is_control)
        result += text[i];
      else
        result += fmt::format("\\x{:02X}", static_cast<unsigned char>(text[i]));
    }
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace tile_tune
