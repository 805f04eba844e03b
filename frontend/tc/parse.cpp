#include "frontend/tc/parse.h"

#include "frontend/tc/analyze.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/lexer.h"
#include "frontend/tc/parser.h"
#include "frontend/tc/scope.h"

namespace tile_tune::tc {

namespace {

// An input that nothing reads is legal, but more often it is a slip in a name.
std::vector<Diagnostic> find_unused_inputs(const Source& source, const ast::File& defs) {
  std::vector<Diagnostic> warnings;
  for (const auto& def : defs) {
    const auto used = names_in_body(def);
    for (const auto& input : def.inputs)
      if (!used.contains(input.name.text))
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
