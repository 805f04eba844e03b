#include "frontend/einsum/lexer.h"

#include "frontend/einsum/errors.h"

namespace tile_tune::einsum {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

// Bytes of the UTF-8 character that `text` starts with; 0 if it is none. Table 3-7 of the Unicode standard.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0, surrogate = first == 0xED && second > 0x9F;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90, too_large = first == 0xF4 && second > 0x8F;
    return continues(1) && continues(2) && continues(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

}  // namespace

Result<std::vector<Token>> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  int column = 0;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const size_t bytes = character_length(rest);
    if (bytes == 0) return errors::not_utf8(i);
    size_t length = bytes;
    int characters = 1;
    const auto take = [&](Token::Kind kind, std::string_view what) {
      length = what.size();
      characters = bytes > 1 ? 1 : static_cast<int>(what.size());
      tokens.push_back({kind, std::string(what), {column, column + characters}});
    };
    const char c = rest.front();
    if (rest.starts_with("..."))
      take(Token::Kind::Ellipsis, "...");
    else if (rest.starts_with("->"))
      take(Token::Kind::Arrow, "->");
    else if (c == '.' || c == '-' || c == '>')
      return errors::misplaced_character(text, {column, column + 1}, c);
    else if (c == ',')
      take(Token::Kind::Comma, ",");
    else if (c == '(')
      take(Token::Kind::Open, "(");
    else if (c == ')')
      take(Token::Kind::Close, ")");
    else if (kBlanks.find(c) == std::string_view::npos)
      take(Token::Kind::Label, rest.substr(0, bytes));
    i += length;
    column += characters;
  }
  tokens.push_back({Token::Kind::End, "", {column, column}});
  return tokens;
}

}  // namespace tile_tune::einsum
