#include "base/text.h"

#include <algorithm>

namespace tile_tune::base {

namespace {

size_t characters(const std::string& text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

bool is_digit(char c) { return '0' <= c && c <= '9'; }

}  // namespace

std::string cut_to_width(const std::string& text, size_t columns) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts && ++characters > columns) return text.substr(0, i);
  }
  return text;
}

std::vector<std::string> broken_into_lines(const std::string& text, size_t columns) {
  std::vector<std::string> lines{""};
  for (size_t end = 0; end < text.size();) {
    const size_t word = text.find_first_not_of(' ', end);
    if (word == std::string::npos) break;
    const std::string blanks = text.substr(end, word - end);
    end = std::min(text.find(' ', word), text.size());
    while (end < text.size() && is_digit(text[end - 1])) end = std::min(text.find(' ', end + 1), text.size());
    const std::string longer = lines.back() + blanks + text.substr(word, end - word);
    if (lines.back().empty() || characters(longer) <= columns)
      lines.back() = longer;
    else
      lines.push_back(text.substr(word, end - word));
  }
  return lines;
}

}  // namespace tile_tune::base
