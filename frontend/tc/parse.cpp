#include "frontend/tc/parse.h"

#include "frontend/tc/analyze.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/lexer.h"
#include "frontend/tc/parser.h"
#include "frontend/tc/unused.h"

namespace tile_tune::tc {

Result<Parsed> parse(std::string_view text, std::string file) {
  const Source source(text, std::move(file));
  TILE_TUNE_TRY(tokens, lex(source));
  TILE_TUNE_TRY(defs, parse_syntax(source, tokens));
  if (defs.empty()) return errors::no_def(source.place({0, 0}));
  TILE_TUNE_TRY(programs, analyze(source, defs));
  std::vector<std::string> texts;
  for (const auto& def : defs) texts.emplace_back(source.text(def.span));
  return Parsed{std::move(programs), std::move(texts), find_unused(source, defs)};
}

}  // namespace tile_tune::tc
