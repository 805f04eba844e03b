#include "frontend/tc/parse.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontend/tc/analyze.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/lexer.h"
#include "frontend/tc/parser.h"
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

// An input that nothing reads is legal, but more often it is a slip in a name.
std::vector<Diagnostic> find_unused_inputs(const Source& source, const ast::File& defs) {
  std::vector<Diagnostic> warnings;
  for (const auto& def : defs) {
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
  return warnings;
}

}  // namespace

Result<Parsed> parse(std::string_view text, std::string file) {
  const Source source(text, std::move(file));
  TILE_TUNE_TRY(tokens, lex(source));
  TILE_TUNE_TRY(defs, parse_syntax(source, tokens));
  if (defs.empty()) return errors::no_def(source.place({0, 0}));
  TILE_TUNE_TRY(programs, analyze(source, defs));
  std::vector<std::string> texts;
  for (const auto& def : defs) texts.emplace_back(source.text(def.span));
  return Parsed{std::move(programs), std::move(texts), find_unused_inputs(source, defs)};
}

}  // namespace tile_tune::tc
