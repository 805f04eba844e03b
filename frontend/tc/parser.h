// Tokens to syntax trees (spec: language-tc.md, "Grammar").
#pragma once

#include "frontend/tc/ast.h"
#include "frontend/tc/lexer.h"

namespace tile_tune::tc {

/// The whole file; the first error ends it. Linear in the text.
Result<ast::File> parse_syntax(const Source& source, const std::vector<Token>& tokens);

}  // namespace tile_tune::tc
