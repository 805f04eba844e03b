// Tokens to syntax trees (docs/tc.md, "Grammar").
#pragma once

#include "frontend/tc/ast.h"
#include "frontend/tc/lexer.h"

namespace tile_tune::tc {

/// The def that the tokens of a part (def_parts()) are; nothing if there are none. The first error ends it. Linear in
/// the text.
Result<std::optional<ast::Def>> parse_syntax(const Source& source, const std::vector<Token>& tokens);

}  // namespace tile_tune::tc
