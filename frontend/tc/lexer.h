// Text to tokens (docs/tc.md, "Grammar"). Comments and white space vanish.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "frontend/tc/source_text.h"
#include "frontend/tensor/dtype.h"

namespace tile_tune::tc {

struct Token {
  enum class Kind { End, Identifier, Keyword, Number, Symbol } kind = Kind::End;
  std::string_view text;
  Span span;

  bool is(std::string_view spelling) const {
    return text == spelling && (kind == Kind::Symbol || kind == Kind::Keyword);
  }
};

/// All tokens of a part of the text, ended by one of kind End or by the word that begins the next part. Unsupported
/// characters are errors.
Result<std::vector<Token>> lex(const Source& source, Span part);

struct DefPart {
  Span span;
  Span name;  // empty without one
};

/// The parts of a text that hold a def each, however wrong it is: from one word `def` to the next, together all of the
/// text. A text without a def is one part.
std::vector<DefPart> def_parts(std::string_view text);

/// The element type a TC type name stands for: "float32", "float", "half", ...
std::optional<DType> scalar_type(std::string_view name);
/// The name messages use for an element type: "float32", "bool", ...
std::string_view scalar_name(DType type);

}  // namespace tile_tune::tc
