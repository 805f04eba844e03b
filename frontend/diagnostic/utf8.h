// UTF-8 in texts that may hold anything: what a terminal can show, and how many columns it takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tile_tune {

/// The code point that starts a non-empty text and its length in bytes; nullopt for what is not UTF-8 (overlong forms,
/// surrogates and numbers beyond U+10FFFF included).
struct CodePoint {
  uint32_t value = 0;
  size_t length = 0;
};
std::optional<CodePoint> first_code_point(std::string_view text);

/// Characters of a text; a byte that is not UTF-8 counts as one.
int count_characters(std::string_view text);

/// The text with \xNN for bytes that are not UTF-8 and for control characters but tabs and newlines, which would reach
/// the terminal.
std::string printable(std::string_view text);

}  // namespace tile_tune
