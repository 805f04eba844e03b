#include "frontend/tc/parse.h"

#include <fmt/format.h>

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
std::vector<Diagnostic> find_unused_inputs(const Source& source, const ast::Def& def) {
  std::vector<Diagnostic> warnings;
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
  return warnings;
}

Result<ir::Program> parse_part(const Source& source, Span part, Budget& budget, ParsedDef& parsed) {
  TILE_TUNE_TRY(tokens, lex(source, part));
  TILE_TUNE_TRY(def, parse_syntax(source, tokens));
  if (!def) return errors::no_def(source.place({0, 0}));
  parsed.text = source.text(def->span);
  TILE_TUNE_TRY(program, analyze(source, *def, budget));
  parsed.warnings = find_unused_inputs(source, *def);
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
