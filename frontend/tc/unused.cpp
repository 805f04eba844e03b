#include "frontend/tc/unused.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/tc/builtins.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/names.h"
#include "frontend/tc/scope.h"

namespace tile_tune::tc {
namespace {

std::set<std::string_view> sizes_of(const ast::Declaration& declaration) {
  std::set<std::string_view> sizes;
  if (!declaration.type) return sizes;
  for (const auto& dim : declaration.type->dims)
    if (const auto* name = std::get_if<ast::Name>(&dim.size)) sizes.insert(name->text);
  return sizes;
}

void find_unused_inputs(const Source& source, const ast::Def& def, std::vector<Diagnostic>& warnings) {
  const auto used = names_in_body(def);
  auto needed = used;
  for (const auto& output : def.outputs) needed.merge(sizes_of(output));
  std::map<std::string_view, int> inputs_with;
  for (const auto& input : def.inputs)
    for (const auto size : sizes_of(input)) ++inputs_with[size];
  // A size that the def needs and no other input has.
  const auto gives_a_size = [&](const ast::Declaration& input) {
    const auto sizes = sizes_of(input);
    return std::any_of(sizes.begin(), sizes.end(),
                       [&](const auto size) { return needed.contains(size) && inputs_with.at(size) == 1; });
  };
  for (const auto& input : def.inputs)
    if (!used.contains(input.name.text) && !gives_a_size(input))
      warnings.push_back(errors::unused_input(source.place(input.name.span), input.name.text));
}

/// The index variables of one statement and where they stand.
class Indices {
 public:
  Indices(const std::set<std::string_view>& others, const ast::Statement& statement)
      : others_(others), statement_(statement) {
    for (const auto& clause : statement.where)
      if (const auto* let = std::get_if<ast::LetClause>(&clause)) lets_.emplace(let->name.text, let->value.get());
    for (const auto& subscript : statement.subscripts) used_.insert(subscript.text);
    for (const auto& name : below(*statement.value)) used_.insert(name.text);
  }

  /// With a range and nothing else.
  std::vector<ast::Name> repeating() const {
    std::vector<ast::Name> result;
    for (const auto& clause : statement_.where)
      if (const auto* range = std::get_if<ast::RangeClause>(&clause); range && !used_.contains(range->index.text))
        result.push_back(range->index);
    return result;
  }

  /// In `exists` clauses only, and in no subscript with an index that is computed, which they could bound.
  std::vector<ast::Name> idle() const {
    auto computed = used_;
    for (const auto& name : repeating()) computed.insert(name.text);
    std::vector<ast::Name> candidates;
    auto bounding = computed;
    for (const auto* subscript : asserted_subscripts()) {
      const auto names = below(*subscript);
      const bool bounds =
          std::any_of(names.begin(), names.end(), [&](const ast::Name& name) { return computed.contains(name.text); });
      for (const auto& name : names)
        if (bounds) bounding.insert(name.text);
      candidates.insert(candidates.end(), names.begin(), names.end());
    }
    std::vector<ast::Name> result;
    for (const auto& name : candidates)
      if (bounding.insert(name.text).second) result.push_back(name);
    return result;
  }

 private:
  std::vector<ast::Name> below(const ast::Expr& root) const {
    std::vector<ast::Name> names;
    auto lets = lets_;
    for_each_name({&root}, [&](const ast::Name& name) -> const ast::Expr* {
      if (const auto let = lets.extract(name.text)) return let.mapped();
      if (!others_.contains(name.text) && !lets_.contains(name.text) && !find_builtin(name.text)) names.push_back(name);
      return nullptr;
    });
    return names;
  }

  /// Of all reads in `exists` clauses.
  std::vector<const ast::Expr*> asserted_subscripts() const {
    std::vector<const ast::Expr*> result, left;
    for (const auto& clause : statement_.where)
      if (const auto* exists = std::get_if<ast::ExistsClause>(&clause)) left.push_back(exists->value.get());
    while (!left.empty()) {
      const auto& expr = *left.back();
      left.pop_back();
      const auto* apply = std::get_if<ast::Apply>(&expr.node);
      if (const auto* cast = std::get_if<ast::Cast>(&expr.node)) left.push_back(cast->argument.get());
      if (const auto* arguments = arguments_of(expr))
        for (const auto& argument : *arguments) {
          left.push_back(argument.get());
          if (apply && !find_builtin(apply->name.text)) result.push_back(argument.get());
        }
    }
    return result;
  }

  const std::set<std::string_view>& others_;  // tensors and sizes
  const ast::Statement& statement_;
  std::map<std::string_view, const ast::Expr*> lets_;
  std::set<std::string_view> used_;  // on the left or in the value
};

void find_unused_indices(const Source& source, const ast::Def& def, std::vector<Diagnostic>& warnings) {
  std::set<std::string_view> others;
  for (const auto* declarations : {&def.inputs, &def.outputs})
    for (const auto& declaration : *declarations) {
      others.insert(declaration.name.text);
      others.merge(sizes_of(declaration));
    }
  for (const auto& statement : def.body) others.insert(statement.target.text);
  for (const auto& statement : def.body) {
    const Indices indices(others, statement);
    for (const auto& name : indices.repeating())
      warnings.push_back(errors::repeating_index(source.place(name.span), name.text));
    for (const auto& name : indices.idle()) warnings.push_back(errors::idle_index(source.place(name.span), name.text));
  }
}

}  // namespace

std::vector<Diagnostic> find_unused(const Source& source, const ast::Def& def) {
  std::vector<Diagnostic> warnings;
  find_unused_inputs(source, def, warnings);
  find_unused_indices(source, def, warnings);
  return warnings;
}

}  // namespace tile_tune::tc
