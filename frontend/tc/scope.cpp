#include "frontend/tc/scope.h"

#include "frontend/tc/builtins.h"
#include "frontend/tc/errors.h"
#include "frontend/tc/names.h"

namespace tile_tune::tc {
namespace {

class Resolver {
 public:
  Resolver(const Source& source, const DefScope& def, const ast::Statement& statement)
      : source_(source), def_(def), statement_(statement) {}

  Result<StatementScope> run() {
    TILE_TUNE_CHECK(declare_left());
    TILE_TUNE_CHECK(declare_where());
    seen_.resize(scope_.lets.size());
    TILE_TUNE_CHECK(visit(*statement_.value, false, scope_.lets.size()));
    for (const auto& clause : statement_.where)
      if (const auto* range = std::get_if<ast::RangeClause>(&clause)) TILE_TUNE_CHECK(add_index(range->index));
    scope_.computed = static_cast<int>(scope_.indices.size());
    for (size_t i = 0; i < scope_.lets.size(); ++i) TILE_TUNE_CHECK(visit(*scope_.lets[i]->value, false, i));
    for (const auto& clause : statement_.where)
      if (const auto* exists = std::get_if<ast::ExistsClause>(&clause))
        TILE_TUNE_CHECK(visit(*exists->value, false, scope_.lets.size()));
    for (const auto& index : scope_.indices)
      if (!is_index_.contains(index.text)) return errors::undefined_name(source_.place(index.span), index.text);
    return std::move(scope_);
  }

 private:
  Result<void> declare_left() {
    for (const auto& subscript : statement_.subscripts) {
      TILE_TUNE_CHECK(check_fresh(subscript));
      if (scope_.index_numbers.contains(subscript.text))
        return errors::repeated_left_subscript(source_.place(subscript.span), subscript.text);
      TILE_TUNE_CHECK(add_index(subscript));
      is_index_.insert(subscript.text);
    }
    return {};
  }

  Result<void> declare_where() {
    std::set<std::string_view> ranges;
    for (const auto& clause : statement_.where) {
      if (const auto* range = std::get_if<ast::RangeClause>(&clause)) {
        TILE_TUNE_CHECK(check_fresh(range->index));
        if (!ranges.insert(range->index.text).second || scope_.let_numbers.contains(range->index.text))
          return redefined(range->index, scope_.let_numbers.contains(range->index.text) ? "a let" : "given a range");
        is_index_.insert(range->index.text);
      } else if (const auto* let = std::get_if<ast::LetClause>(&clause)) {
        TILE_TUNE_CHECK(check_fresh(let->name));
        if (is_index_.contains(let->name.text)) return redefined(let->name, "an index variable");
        if (!scope_.let_numbers.emplace(let->name.text, scope_.lets.size()).second)
          return redefined(let->name, "a let");
        scope_.lets.push_back(let);
      }
    }
    return {};
  }

  // The name must not be a built-in, a size or a tensor.
  Result<void> check_fresh(const ast::Name& name) {
    if (find_builtin(name.text)) return errors::builtin_redefined(source_.place(name.span), name.text);
    if (def_.sizes.contains(name.text)) return redefined(name, "a size");
    if (const auto found = def_.tensors.find(name.text); found != def_.tensors.end())
      return redefined(name, found->second.kind == TensorSymbol::Kind::Input ? "a parameter" : "a tensor");
    return {};
  }
  tl::unexpected<Diagnostic> redefined(const ast::Name& name, std::string_view what) {
    return errors::redefinition(source_.place(name.span), name.text, what);
  }

  Result<void> add_index(const ast::Name& name) {
    if (!scope_.index_numbers.emplace(name.text, static_cast<int>(scope_.indices.size())).second) return {};
    if (scope_.indices.size() >= kMaxIndices) return errors::too_many_indices(source_.place(name.span), kMaxIndices);
    scope_.indices.push_back(name);
    return {};
  }

  // Lets see only the lets before them: `visible` is the number of those.
  Result<void> visit(const ast::Expr& expr, bool in_subscript, size_t visible) {
    // Chains of lets nest as deeply as there are lets.
    if (++depth_ > ast::kMaxDepth) return errors::too_deep(source_.place(expr.span), ast::kMaxDepth);
    if (const auto* identifier = std::get_if<ast::Identifier>(&expr.node)) {
      TILE_TUNE_CHECK(visit_name({identifier->name, expr.span}, in_subscript, visible));
    } else if (const auto* cast = std::get_if<ast::Cast>(&expr.node)) {
      TILE_TUNE_CHECK(visit(*cast->argument, in_subscript, visible));
    } else {
      const auto* apply = std::get_if<ast::Apply>(&expr.node);
      const bool is_read = apply && !find_builtin(apply->name.text);
      if (is_read) TILE_TUNE_CHECK(check_tensor(apply->name));
      if (const auto* arguments = arguments_of(expr))
        for (const auto& argument : *arguments) TILE_TUNE_CHECK(visit(*argument, in_subscript || is_read, visible));
    }
    --depth_;
    return {};
  }

  Result<void> check_tensor(const ast::Name& name) {
    if (def_.tensors.contains(name.text)) return {};
    const bool is_scalar = def_.sizes.contains(name.text) || scope_.let_numbers.contains(name.text) ||
                           scope_.index_numbers.contains(name.text) || is_index_.contains(name.text);
    if (is_scalar) return errors::scalar_as_tensor(source_.place(name.span), name.text);
    return errors::undefined_name(source_.place(name.span), name.text);
  }

  Result<void> visit_name(const ast::Name& name, bool in_subscript, size_t visible) {
    if (const auto let = scope_.let_numbers.find(name.text); let != scope_.let_numbers.end()) {
      if (let->second >= visible) return errors::let_used_early(source_.place(name.span), name.text);
      auto& seen = seen_[let->second];
      if (in_subscript ? seen.in_subscript : seen.outside) return {};
      (in_subscript ? seen.in_subscript : seen.outside) = true;
      return visit(*scope_.lets[let->second]->value, in_subscript, let->second);
    }
    if (find_builtin(name.text)) return errors::builtin_redefined(source_.place(name.span), name.text);
    if (def_.sizes.contains(name.text) || def_.tensors.contains(name.text)) return {};
    if (in_subscript) is_index_.insert(name.text);
    return add_index(name);
  }

  struct Seen {
    bool in_subscript = false, outside = false;
  };

  const Source& source_;
  const DefScope& def_;
  const ast::Statement& statement_;
  StatementScope scope_;
  std::set<std::string_view> is_index_;  // on the left, in a subscript, or with a range of its own
  std::vector<Seen> seen_;
  int depth_ = 0;
};

}  // namespace

Result<StatementScope> resolve_names(const Source& source, const DefScope& def, const ast::Statement& statement) {
  return Resolver(source, def, statement).run();
}

std::optional<ir::SizeExpr> DefScope::extent_of(const ast::Dim& dim) const {
  if (const auto* number = std::get_if<int64_t>(&dim.size)) return ir::SizeExpr(*number);
  const auto name = std::get<ast::Name>(dim.size).text;
  const auto derived = derived_sizes.find(name);
  return derived == derived_sizes.end() ? ir::SizeExpr::name(std::string(name)) : derived->second;
}

std::set<std::string_view> find_size_parameters(const ast::Def& def) {
  std::set<std::string_view> candidates, found;
  for (const auto& input : def.inputs)
    if (input.type->dims.empty() && is_integer(input.type->scalar)) candidates.insert(input.name.text);
  for (const auto& statement : def.body) {
    std::map<std::string_view, const ast::Expr*> lets;
    std::vector<const ast::Expr*> pending;
    for (const auto& clause : statement.where) {
      if (const auto* let = std::get_if<ast::LetClause>(&clause)) lets.emplace(let->name.text, let->value.get());
      if (const auto* range = std::get_if<ast::RangeClause>(&clause))
        pending.insert(pending.end(), {range->lo.get(), range->hi.get()});
    }
    for_each_name(std::move(pending), [&](const ast::Name& name) -> const ast::Expr* {
      if (candidates.contains(name.text)) found.insert(name.text);
      const auto let = lets.extract(name.text);
      return let ? let.mapped() : nullptr;
    });
  }
  return found;
}

std::set<std::string_view> names_in_body(const ast::Def& def) {
  std::set<std::string_view> names;
  for (const auto& statement : def.body) {
    std::vector<const ast::Expr*> roots{statement.value.get()};
    names.insert(statement.target.text);
    for (const auto& subscript : statement.subscripts) names.insert(subscript.text);
    for (const auto& clause : statement.where) {
      if (const auto* range = std::get_if<ast::RangeClause>(&clause)) {
        names.insert(range->index.text);
        roots.insert(roots.end(), {range->lo.get(), range->hi.get()});
      } else if (const auto* let = std::get_if<ast::LetClause>(&clause)) {
        names.insert(let->name.text);
        roots.push_back(let->value.get());
      } else {
        roots.push_back(std::get<ast::ExistsClause>(clause).value.get());
      }
    }
    for_each_name(std::move(roots), [&](const ast::Name& name) -> const ast::Expr* {
      names.insert(name.text);
      return nullptr;
    });
  }
  return names;
}

}  // namespace tile_tune::tc
