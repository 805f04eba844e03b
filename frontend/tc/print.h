// Syntax trees as text, for messages: no space after commas, spaces around operators, as "A(i,j) * B(j)".
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "frontend/tc/ast.h"

namespace tile_tune::tc {

/// What stands in for an expression; nullopt: its own text.
using Replacement = std::function<std::optional<std::string>(const ast::Expr&)>;

/// Text of an expression. Stops soon after `limit` characters and then ends in "...".
std::string to_text(const ast::Expr& expr, size_t limit = 120);

/// Text of a whole statement with some expressions replaced. `where` holds the clauses' texts.
std::string to_text(const ast::Statement& statement, const Replacement& replacement,
                    const std::vector<std::string>& where);

/// Text of an expression with some parts replaced.
std::string to_text(const ast::Expr& expr, const Replacement& replacement);

}  // namespace tile_tune::tc
