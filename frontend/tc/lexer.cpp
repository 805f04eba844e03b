#include "frontend/tc/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "frontend/tc/errors.h"

namespace tile_tune::tc {
namespace {

// Full names before synonyms: messages use the first name of a type.
constexpr std::array<std::pair<std::string_view, DType>, 17> kScalars{{
    {"bool", DType::Bool},
    {"uint8", DType::U8},
    {"uint16", DType::U16},
    {"uint32", DType::U32},
    {"uint64", DType::U64},
    {"int8", DType::I8},
    {"int16", DType::I16},
    {"int32", DType::I32},
    {"int64", DType::I64},
    {"float16", DType::F16},
    {"bfloat16", DType::BF16},
    {"float32", DType::F32},
    {"float64", DType::F64},
    {"float", DType::F32},
    {"double", DType::F64},
    {"half", DType::F16},
    {"int", DType::I32},
}};

constexpr std::array<std::string_view, 4> kKeywords{"def", "where", "in", "exists"};

// Longer symbols before their own prefixes. "min=" and "max=" start like names and are tried before them.
constexpr std::array<std::string_view, 34> kSymbols{
    "min=!", "max=!", "min=", "max=", "+=!", "*=!", "->", "+=", "*=", "==", "!=", "<=", ">=", "&&", "||", "+", "-",
    "*",     "/",     "%",    "(",    ")",   "[",   "]",  "{",  "}",  "?",  ":",  ",",  ";",  "=",  "<",  ">", "!"};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

// Length of the name, or of the number with everything glued to it ("2i", "1.0f"): what is no number among
// these is refused as a whole when it is converted.
size_t word_length(std::string_view text) {
  size_t n = 0;
  if (is_name_start(text[0])) {
    while (n < text.size() && is_name_part(text[n])) ++n;
    return n;
  }
  const bool hexadecimal = text.size() > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const std::string_view exponent = hexadecimal ? "pP" : "eE";
  while (n < text.size()) {
    const bool is_sign = (text[n] == '+' || text[n] == '-') && n > 0 && exponent.find(text[n - 1]) != exponent.npos;
    if (!is_name_part(text[n]) && text[n] != '.' && !is_sign) break;
    ++n;
  }
  return n;
}

size_t skip_blank(std::string_view text, size_t at) {
  while (at < text.size() && (is_space(text[at]) || text[at] == '#')) {
    if (text[at] == '#')
      at = std::min(text.find('\n', at), text.size());
    else
      ++at;
  }
  return at;
}

bool is_keyword(std::string_view word) {
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end() || scalar_type(word);
}

// The token at the start of `text`, or one of kind End if no token starts so.
Token first_token(std::string_view text, size_t at) {
  const auto token = [&](Token::Kind kind, size_t length) {
    return Token{kind, text.substr(0, length), {at, at + length}};
  };
  for (const auto symbol : kSymbols)
    if (text.starts_with(symbol)) return token(Token::Kind::Symbol, symbol.size());
  if (is_name_start(text[0])) {
    const size_t length = word_length(text);
    return token(is_keyword(text.substr(0, length)) ? Token::Kind::Keyword : Token::Kind::Identifier, length);
  }
  if (is_digit(text[0]) || (text[0] == '.' && text.size() > 1 && is_digit(text[1])))
    return token(Token::Kind::Number, word_length(text));
  return {};
}

}  // namespace

std::optional<DType> scalar_type(std::string_view name) {
  for (const auto& [spelling, type] : kScalars)
    if (spelling == name) return type;
  return std::nullopt;
}

std::string_view scalar_name(DType type) {
  for (const auto& [spelling, scalar] : kScalars)
    if (scalar == type) return spelling;
  return dtype_name(type);
}

Result<std::vector<Token>> lex(const Source& source, Span part) {
  const auto text = source.text().substr(0, part.end);
  std::vector<Token> tokens;
  size_t last_end = part.begin;
  // Editors on Windows start files with a byte order mark.
  size_t at = skip_blank(text, part.begin == 0 && text.starts_with("\xEF\xBB\xBF") ? 3 : part.begin);
  while (at < text.size()) {
    const auto token = first_token(text.substr(at), at);
    if (token.kind == Token::Kind::End)
      return errors::unsupported_character(source.place({at, at + 1}), text.substr(at));
    tokens.push_back(token);
    last_end = token.span.end;
    at = skip_blank(text, last_end);
  }
  if (part.end < source.text().size())
    tokens.push_back(first_token(source.text().substr(part.end), part.end));
  else
    tokens.push_back({Token::Kind::End, "", {last_end, last_end}});
  return tokens;
}

std::vector<DefPart> def_parts(std::string_view text) {
  std::vector<DefPart> parts{{{0, text.size()}, {}}};
  bool has_def = false, is_behind_def = false;
  for (size_t at = skip_blank(text, 0); at < text.size();) {
    const bool is_name = is_name_start(text[at]);
    const size_t length = is_name || is_digit(text[at]) ? word_length(text.substr(at)) : 1;
    const bool is_def = text.substr(at, length) == "def";
    if (is_def && has_def) {
      parts.back().span.end = at;
      parts.push_back({{at, text.size()}, {}});
    }
    if (is_behind_def && is_name && !is_def) parts.back().name = {at, at + length};
    has_def = has_def || is_def;
    is_behind_def = is_def;
    at = skip_blank(text, at + length);
  }
  return parts;
}

}  // namespace tile_tune::tc
