#include "codegen/lower/excluded_terms.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;
using Names = std::vector<std::pair<std::string, Expr>>;

/// One statement after another, each with what is named before it and holds from there on.
struct Step {
  Names names;
  Stmt stmt;
};

void flatten(const Stmt& stmt, Names& names, std::vector<Step>& steps) {
  if (const auto* block = stmt.as<Block>()) {
    flatten(block->first, names, steps);
    flatten(block->rest, names, steps);
  } else if (const auto* let = stmt.as<LetStmt>()) {
    names.emplace_back(let->name, let->value);
    flatten(let->body, names, steps);
  } else {
    steps.push_back({std::exchange(names, {}), stmt});
  }
}

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

Expr with(const Names& names, Expr value) {
  for (auto name = names.rbegin(); name != names.rend(); ++name) value = Let::make(name->first, name->second, value);
  return value;
}

/// Whether a value is what lies where a store goes.
bool is_kept(const Store& store, const Names& names, Expr value) {
  for (auto name = names.rbegin(); name != names.rend(); ++name)
    if (const auto* variable = value.as<Variable>(); variable && variable->name == name->first) value = name->second;
  const auto* load = value.as<Load>();
  return load && load->name == store.name && equal(load->index, store.index) && equal(load->predicate, store.predicate);
}

/// A store that happens only under a condition.
struct Guarded {
  Names before;
  Expr condition;  // none: it always happens
  Stmt store;      // with what is named for it alone
};

/// `everywhere`: how often each name occurs in all steps.
Guarded guarded(const Step& step, const NameCounts& everywhere) {
  const auto* store = step.stmt.as<Store>();
  if (!store) return {};
  // What the value alone needs goes under the branch with it.
  Names before, own;
  NameCounts here;
  store->value.accept(&here);
  for (auto name = step.names.rbegin(); name != step.names.rend(); ++name) {
    const bool is_own = here.of(name->first) == everywhere.of(name->first);
    if (is_own) name->second.accept(&here);
    (is_own ? own : before).insert((is_own ? own : before).begin(), *name);
  }
  Names names = step.names;
  Expr condition, value = store->value;
  while (true) {
    if (const auto* let = value.as<Let>()) {
      names.emplace_back(let->name, let->value);
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
  for (const auto& [name, named] : before)
    if (of_condition.of(name) > 0) named.accept(&of_condition);
  if (of_condition.loads || of_condition.has_floats) return {};
  return {before, condition,
          Store::make(store->name, with(own, value), store->index, store->param, store->predicate, store->alignment)};
}

}  // namespace

Stmt ExcludedTerms::branched(const Stmt& stmt) {
  Names names;
  std::vector<Step> steps, result;
  flatten(stmt, names, steps);
  NameCounts everywhere;
  stmt.accept(&everywhere);
  Expr condition;  // of the last step, if that is a branch
  for (auto& step : steps) {
    const auto [before, under, store] = guarded(step, everywhere);
    if (!under.defined()) {
      condition = {};
      result.push_back({std::move(step.names), step.stmt.as<Store>() ? step.stmt : mutate(step.stmt)});
    } else if (before.empty() && condition.defined() && equal(condition, under)) {
      const auto* branch = result.back().stmt.as<IfThenElse>();
      result.back().stmt = IfThenElse::make(condition, Block::make(branch->then_case, store));
    } else {
      condition = under;
      result.push_back({before, IfThenElse::make(condition, store)});
    }
  }
  Stmt all;
  for (auto step = result.rbegin(); step != result.rend(); ++step) {
    all = all.defined() ? Block::make(step->stmt, all) : step->stmt;
    for (auto name = step->names.rbegin(); name != step->names.rend(); ++name)
      all = LetStmt::make(name->first, name->second, all);
  }
  return all;
}

}  // namespace tile_tune::codegen
