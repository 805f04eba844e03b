#include "frontend/tc/analyze.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>

#include "frontend/tc/builtins.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/statement.h"

namespace tile_tune::tc {
namespace {

// Nodes that inlining lets may add to a file, on top of the few visits each character of its own can cost.
constexpr size_t kInlinedNodes = 200'000, kVisitsPerCharacter = 8;

Result<void> check_name(const Source& source, const DefScope& scope, const ast::Name& name) {
  if (find_builtin(name.text)) return errors::builtin_redefined(source.place(name.span), name.text);
  if (scope.sizes.contains(name.text)) return errors::redefinition(source.place(name.span), name.text, "a size");
  return {};
}

Result<void> declare_sizes(const Source& source, const ast::Declaration& declaration, DefScope& scope) {
  if (!declaration.type) return {};
  if (declaration.type->dims.size() > kMaxDimensions)
    return errors::too_many_dimensions(source.place(declaration.name.span), kMaxDimensions);
  for (const auto& dim : declaration.type->dims) {
    const auto* name = std::get_if<ast::Name>(&dim.size);
    if (!name) continue;
    if (find_builtin(name->text)) return errors::builtin_redefined(source.place(name->span), name->text);
    if (scope.tensors.contains(name->text))
      return errors::redefinition(source.place(name->span), name->text, "a parameter");
    if (scope.sizes.insert(name->text).second && !scope.derived_sizes.contains(name->text))
      scope.program.sizes.emplace_back(name->text);
  }
  return {};
}

Result<void> declare_inputs(const Source& source, const ast::Def& def, DefScope& scope) {
  scope.size_parameters = find_size_parameters(def);
  for (const auto& input : def.inputs) {
    TILE_TUNE_CHECK(declare_sizes(source, input, scope));
    TILE_TUNE_CHECK(check_name(source, scope, input.name));
    ir::Tensor tensor{std::string(input.name.text), input.type->scalar, {}, ir::Role::Input, {}};
    for (const auto& dim : input.type->dims) {
      tensor.extents.push_back(*scope.extent_of(dim));
      scope.is_zero_sized = scope.is_zero_sized || tensor.extents.back().constant() == 0;
    }
    const int number = scope.add_tensor(std::move(tensor));
    scope.program.inputs.push_back(number);
    if (!scope.tensors.emplace(input.name.text, TensorSymbol{TensorSymbol::Kind::Input, &input, number}).second)
      return errors::duplicate_parameter(source.place(input.name.span), input.name.text);
    if (scope.size_parameters.contains(input.name.text)) scope.program.sizes.emplace_back(input.name.text);
  }
  return {};
}

// Sizes that only the types of outputs name are results of inference, not something a caller gives.
void find_derived_sizes(const ast::Def& def, DefScope& scope) {
  const auto used = names_in_body(def);
  for (const auto& output : def.outputs) {
    if (!output.type) continue;
    for (const auto& dim : output.type->dims)
      if (const auto* name = std::get_if<ast::Name>(&dim.size))
        if (!scope.sizes.contains(name->text) && !used.contains(name->text))
          scope.derived_sizes.emplace(name->text, std::nullopt);
  }
}

Result<void> declare_outputs(const Source& source, const ast::Def& def, DefScope& scope) {
  find_derived_sizes(def, scope);
  if (def.outputs.empty()) return errors::no_output(source.place(def.name.span), def.name.text);
  for (const auto& output : def.outputs) {
    TILE_TUNE_CHECK(declare_sizes(source, output, scope));
    TILE_TUNE_CHECK(check_name(source, scope, output.name));
    if (!scope.tensors.emplace(output.name.text, TensorSymbol{TensorSymbol::Kind::Output, &output}).second)
      return errors::duplicate_output(source.place(output.name.span), output.name.text);
  }
  return {};
}

// An output of declared extents whose first statement updates it has the caller's values from the start, so
// that earlier statements may read them.
void add_initial_values(const ast::Def& def, DefScope& scope) {
  std::set<std::string_view> written;
  for (const auto& statement : def.body) {
    const auto found = scope.tensors.find(statement.target.text);
    if (!written.insert(statement.target.text).second || statement.initialises || found == scope.tensors.end())
      continue;
    const auto& symbol = found->second;
    if (symbol.kind != TensorSymbol::Kind::Output || !symbol.declaration->type) continue;
    std::vector<ir::SizeExpr> extents;
    for (const auto& dim : symbol.declaration->type->dims)
      if (const auto extent = scope.extent_of(dim)) extents.push_back(*extent);
    if (extents.size() == symbol.declaration->type->dims.size())
      add_initial_value(statement.target.text, symbol.declaration->type->scalar, std::move(extents), scope);
  }
}

// The last version of an output is the output; every other version that shares its name gets one of its own.
Result<void> finish_versions(const Source& source, const ast::Def& def, DefScope& scope) {
  auto& program = scope.program;
  for (const auto& output : def.outputs) {
    const auto version = scope.tensors.at(output.name.text).version;
    if (!version || program.tensors[*version].role == ir::Role::InOut)
      return errors::output_never_written(source.place(output.name.span), output.name.text);
    program.tensors[*version].role = ir::Role::Output;
    program.outputs.push_back(*version);
  }
  std::map<std::string_view, int> versions;
  for (size_t t = 0; t < program.tensors.size(); ++t) {
    auto& tensor = program.tensors[t];
    const auto symbol = scope.tensors.find(tensor.name);
    if (tensor.role != ir::Role::Temporary || symbol->second.version == static_cast<int>(t)) continue;
    do {
      tensor.name = fmt::format("{}_{}", symbol->first, ++versions[symbol->first]);
    } while (scope.tensors.contains(tensor.name) || scope.sizes.contains(tensor.name));
  }
  return {};
}

}  // namespace

Budget budget_for(size_t bytes) { return Budget(bytes * kVisitsPerCharacter + kInlinedNodes); }

Result<ir::Program> analyze(const Source& source, const ast::Def& def, Budget& budget) {
  DefScope scope;
  scope.program.name = std::string(def.name.text);
  TILE_TUNE_CHECK(declare_inputs(source, def, scope));
  TILE_TUNE_CHECK(declare_outputs(source, def, scope));
  add_initial_values(def, scope);
  for (const auto& statement : def.body) TILE_TUNE_CHECK(add_statement(source, statement, budget, scope));
  TILE_TUNE_CHECK(finish_versions(source, def, scope));
  return std::move(scope.program);
}

}  // namespace tile_tune::tc
