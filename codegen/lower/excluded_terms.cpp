#include "codegen/lower/excluded_terms.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;
/// How often each name occurs, also of buffers, and whether memory is read or floats are compared.
class NameCounts : public IRVisitor {
 public:
  int of(const std::string& name) const { return counts_.count(name) ? counts_.at(name) : 0; }
  bool loads = false, has_floats = false;

 private:
  using IRVisitor::visit;
  void visit(const Variable* op) override {
    ++counts_[op->name];
    has_floats = has_floats || op->type.is_float();
  }
  void visit(const Load* op) override {
    ++counts_[op->name];
    loads = true;
    has_floats = has_floats || op->type.is_float();
    IRVisitor::visit(op);
  }
  void visit(const Store* op) override {
    ++counts_[op->name];
    IRVisitor::visit(op);
  }

  std::map<std::string, int> counts_;
};

/// The condition of all lanes; nothing where lanes have their own.
Expr one_for_all(const Expr& condition) {
  const auto* broadcast = condition.as<Broadcast>();
  const Expr one = broadcast ? broadcast->value : condition;
  return one.type().is_scalar() ? one : Expr();
}

Expr with(const std::vector<CodeLine>& names, Expr value) {
  for (auto line = names.rbegin(); line != names.rend(); ++line) value = Let::make(line->name, line->value, value);
  return value;
}

/// Whether a value is what lies where a store goes.
bool is_kept(const Store& store, const std::vector<CodeLine>& names, Expr value) {
  for (auto line = names.rbegin(); line != names.rend(); ++line)
    if (const auto* variable = value.as<Variable>(); variable && variable->name == line->name) value = line->value;
  const auto* load = value.as<Load>();
  return load && load->name == store.name && equal(load->index, store.index) && equal(load->predicate, store.predicate);
}

/// A store that happens only under a condition.
struct Guarded {
  std::vector<CodeLine> before;
  Expr condition;  // none: it always happens
  Stmt store;      // with what is named for it alone
};

/// `names`: what is named just before the statement; `everywhere`: how often each name occurs in all lines.
Guarded guarded(std::vector<CodeLine> names, const Stmt& stmt, const NameCounts& everywhere) {
  const auto* store = stmt.as<Store>();
  if (!store) return {};
  // What the value alone needs goes under the branch with it.
  std::vector<CodeLine> before, own;
  NameCounts here;
  store->value.accept(&here);
  for (auto line = names.rbegin(); line != names.rend(); ++line) {
    const bool is_own = here.of(line->name) == everywhere.of(line->name);
    if (is_own) line->value.accept(&here);
    (is_own ? own : before).insert((is_own ? own : before).begin(), *line);
  }
  Expr condition, value = store->value;
  while (true) {
    if (const auto* let = value.as<Let>()) {
      names.push_back({let->name, let->value, {}});
      own.push_back(names.back());
      value = let->body;
      continue;
    }
    const auto* select = value.as<Select>();
    if (!select) break;
    const bool keeps = is_kept(*store, names, select->true_value);
    const Expr one = one_for_all(select->condition);
    if (!one.defined() || !(keeps || is_kept(*store, names, select->false_value))) break;
    const Expr computes = with(own, keeps ? !one : one);
    condition = condition.defined() ? condition && computes : computes;
    value = keeps ? select->false_value : select->true_value;
  }
  if (!condition.defined()) return {};
  condition = simplify(condition);
  // Borders are conditions on indices; what data decide, nothing foresees, and NaN has no opposite comparison.
  NameCounts of_condition;
  condition.accept(&of_condition);
  for (const auto& line : before)
    if (of_condition.of(line.name) > 0) line.value.accept(&of_condition);
  if (of_condition.loads || of_condition.has_floats) return {};
  return {before, condition,
          Store::make(store->name, with(own, value), store->index, store->param, store->predicate, store->alignment)};
}

}  // namespace

Stmt ExcludedTerms::branched(const std::vector<CodeLine>& lines, const Stmt& whole) {
  NameCounts everywhere;
  whole.accept(&everywhere);
  std::vector<CodeLine> names, result;
  Expr condition;  // of the last line, if that is a branch
  for (const auto& line : lines) {
    if (line.is_let()) {
      names.push_back(line);
      continue;
    }
    const Stmt& stmt = line.statement;
    const auto [before, under, store] = guarded(names, stmt, everywhere);
    const bool joins = before.empty() && condition.defined() && under.defined() && equal(condition, under);
    condition = under;
    if (joins) {
      const auto* branch = result.back().statement.as<IfThenElse>();
      result.back().statement = IfThenElse::make(condition, Block::make(branch->then_case, store));
    } else if (under.defined()) {
      result.insert(result.end(), before.begin(), before.end());
      result.push_back({"", {}, IfThenElse::make(condition, store)});
    } else {
      result.insert(result.end(), names.begin(), names.end());
      result.push_back({"", {}, stmt.as<Store>() ? stmt : mutate(stmt)});
    }
    names.clear();
  }
  return as_statement(result);
}

}  // namespace tile_tune::codegen
