// The names below expressions.
#pragma once

#include <utility>
#include <vector>

#include "frontend/tc/ast.h"

namespace tile_tune::tc {

/// Of an operation or an applied name; null of anything else.
inline const std::vector<ast::ExprPtr>* arguments_of(const ast::Expr& expr) {
  if (const auto* apply = std::get_if<ast::Apply>(&expr.node)) return &apply->arguments;
  if (const auto* operation = std::get_if<ast::Operation>(&expr.node)) return &operation->arguments;
  return nullptr;
}

/// Every identifier and applied name below the roots. `visit` gets it and where it stands, and may return one more
/// root, such as a let's value: a list of what is left to do instead of recursion, because chains of lets may be long.
template <typename Visit>
void for_each_name(std::vector<const ast::Expr*> roots, Visit visit) {
  while (!roots.empty()) {
    const auto& expr = *roots.back();
    roots.pop_back();
    const ast::Expr* more = nullptr;
    if (const auto* identifier = std::get_if<ast::Identifier>(&expr.node))
      more = visit(ast::Name{identifier->name, expr.span});
    if (const auto* apply = std::get_if<ast::Apply>(&expr.node)) more = visit(apply->name);
    if (more) roots.push_back(more);
    if (const auto* cast = std::get_if<ast::Cast>(&expr.node)) roots.push_back(cast->argument.get());
    if (const auto* arguments = arguments_of(expr))
      for (const auto& argument : *arguments) roots.push_back(argument.get());
  }
}

}  // namespace tile_tune::tc
