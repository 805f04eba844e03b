#include "frontend/tc/parse.h"

#include <fmt/format.h>

#include <set>

#include "frontend/tc/analyze.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/lexer.h"
#include "frontend/tc/parser.h"
#include "frontend/tc/unused.h"

namespace tile_tune::tc {

namespace {

Result<ir::Program> parse_part(const Source& source, Span part, Budget& budget, ParsedDef& parsed) {
  TILE_TUNE_TRY(tokens, lex(source, part));
  TILE_TUNE_TRY(def, parse_syntax(source, tokens));
  if (!def) return errors::no_def(source.place({0, 0}));
  parsed.text = source.text(def->span);
  TILE_TUNE_TRY(program, analyze(source, *def, budget));
  parsed.warnings = find_unused(source, *def);
  return program;
}

// Whose error it is, where the message does not say so.
void name_def(const std::string& name, Diagnostic& error) {
  const bool says_so = error.message.find(fmt::format("def '{}'", name)) != std::string::npos ||
                       error.message.find(fmt::format("def named '{}'", name)) != std::string::npos;
  if (!name.empty() && !says_so) error.message = fmt::format("in def '{}': {}", name, error.message);
}

}  // namespace

std::vector<ParsedDef> parse_defs(std::string_view text, std::string file) {
  const Source source(text, std::move(file));
  Budget budget = budget_for(text.size());
  const auto parts = def_parts(text);
  std::vector<ParsedDef> defs;
  std::set<std::string> names;
  for (const auto& [part, name] : parts) {
    ParsedDef parsed{std::string(source.text(name)), std::string(source.text(part)), {}, {}};
    parsed.program = parse_part(source, part, budget, parsed);
    const bool is_new = parsed.name.empty() || names.insert(parsed.name).second;
    if (parsed.program && !is_new) parsed.program = errors::duplicate_def(source.place(name), parsed.name);
    if (!parsed.program && parts.size() > 1) name_def(parsed.name, parsed.program.error());
    defs.push_back(std::move(parsed));
  }
  return defs;
}

Result<Parsed> parse(std::string_view text, std::string file) {
  Parsed all;
  for (auto& def : parse_defs(text, std::move(file))) {
    if (!def.program) return tl::unexpected(std::move(def.program.error()));
    all.programs.push_back(std::move(*def.program));
    all.texts.push_back(std::move(def.text));
    all.warnings.insert(all.warnings.end(), def.warnings.begin(), def.warnings.end());
  }
  return all;
}

}  // namespace tile_tune::tc
