// Subscripts as tokens, with their places counted in characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostic/diagnostic.h"
#include "frontend/einsum/einsum.h"

namespace tile_tune::einsum {

struct Token {
  enum class Kind { Label, Ellipsis, Comma, Open, Close, Arrow, End } kind;
  std::string text;
  Span span;
};

/// The last token is End. Errors: text that is no UTF-8, dots and dashes that stand alone.
Result<std::vector<Token>> tokens_of(std::string_view text);

}  // namespace tile_tune::einsum
