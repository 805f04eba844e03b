#include "frontend/tc/parse.h"

#include <algorithm>
#include <set>

#include "frontend/tc/analyze.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/lexer.h"
#include "frontend/tc/parser.h"
#include "frontend/tc/scope.h"

namespace tile_tune::tc {

namespace {

bool has_dimension(const ast::Declaration& declaration, std::string_view size) {
  if (!declaration.type) return false;
  const auto& dims = declaration.type->dims;
  return std::any_of(dims.begin(), dims.end(), [&](const ast::Dim& dim) {
    const auto* name = std::get_if<ast::Name>(&dim.size);
    return name && name->text == size;
  });
}

// Whether the def needs the input for a size that no other input has.
bool gives_a_size(const ast::Def& def, const ast::Declaration& input, const std::set<std::string_view>& used) {
  return std::any_of(input.type->dims.begin(), input.type->dims.end(), [&](const ast::Dim& dim) {
    const auto* size = std::get_if<ast::Name>(&dim.size);
    if (!size) return false;
    const auto has = [&](const ast::Declaration& declaration) { return has_dimension(declaration, size->text); };
    const bool needed = used.contains(size->text) || std::any_of(def.outputs.begin(), def.outputs.end(), has);
    return needed && std::count_if(def.inputs.begin(), def.inputs.end(), has) == 1;
  });
}

// An input that nothing reads is legal, but more often it is a slip in a name.
std::vector<Diagnostic> find_unused_inputs(const Source& source, const ast::File& defs) {
  std::vector<Diagnostic> warnings;
  for (const auto& def : defs) {
    const auto used = names_in_body(def);
    for (const auto& input : def.inputs)
      if (!used.contains(input.name.text) && !gives_a_size(def, input, used))
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
  return Parsed{std::move(programs), find_unused_inputs(source, defs)};
}

}  // namespace tile_tune::tc
