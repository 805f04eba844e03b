#include "frontend/einsum/lexer.h"

#include "frontend/diagnostic/utf8.h"
#include "frontend/einsum/errors.h"

namespace tile_tune::einsum {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";

}  // namespace

Result<std::vector<Token>> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  int column = 0;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const auto character = first_code_point(rest);
    if (!character) return errors::not_utf8(text, {column, column + 1});
    const size_t bytes = character->length;
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
