#include "codegen/lower/tuple_stores.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/lower/folds.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Internal::Block;
using Halide::Internal::LetStmt;
using Halide::Internal::Stmt;
using Halide::Internal::Store;

// Whether a part is loaded, at an element that may be this one if there is one, or a name of such a value used.
class Loads : public Halide::Internal::IRVisitor {
 public:
  explicit Loads(std::string part, Expr index = {}, std::set<std::string> names = {})
      : part_(std::move(part)), index_(std::move(index)), names_(std::move(names)) {}
  bool found = false;

 protected:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Load* op) override {
    found |= op->name == part_ && !is_elsewhere(op->index);
    IRVisitor::visit(op);
  }
  void visit(const Halide::Internal::Variable* op) override { found |= names_.contains(op->name); }

 private:
  bool is_elsewhere(const Expr& index) const {
    if (!index_.defined() || !index.type().is_scalar() || !index_.type().is_scalar()) return false;
    const Expr distance = Halide::Internal::simplify(index - index_);
    return Halide::Internal::is_const(distance) && !Halide::Internal::is_const_zero(distance);
  }

  std::string part_;
  Expr index_;
  std::set<std::string> names_;
};

// Whether a statement uses one of these names as it has it from outside.
class Uses : public Halide::Internal::IRVisitor {
 public:
  explicit Uses(std::set<std::string> names) : names_(std::move(names)) {}
  bool found = false;

 protected:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Variable* op) override { found |= names_.contains(op->name); }
  void visit(const Halide::Internal::Let* op) override { let(*op); }
  void visit(const LetStmt* op) override { let(*op); }

 private:
  template <typename Node>
  void let(const Node& op) {
    op.value.accept(this);
    const bool hides = names_.erase(op.name) > 0;
    op.body.accept(this);
    if (hides) names_.insert(op.name);
  }

  std::set<std::string> names_;
};

enum class End { First, Last };

// The first or the last store of a statement, and what stands around it: names of values, and other statements, those
// behind the first store or before the last. Outermost first.
class EndStore {
 public:
  EndStore(Stmt stmt, End end) : end_(end) {
    while (true) {
      if (const auto* let = stmt.as<LetStmt>()) {
        around_.push_back({let->name, let->value, {}});
        stmt = let->body;
      } else if (const auto* block = stmt.as<Block>()) {
        around_.push_back({"", {}, end == End::First ? block->rest : block->first});
        stmt = end == End::First ? block->first : block->rest;
      } else {
        break;
      }
    }
    stmt_ = stmt;
  }

  // Null if it is none.
  const Store* store() const { return stmt_.as<Store>(); }
  Expr with_lets(Expr expr) const {
    for (auto one = around_.rbegin(); one != around_.rend(); ++one)
      if (one->is_let()) expr = Halide::Internal::Let::make(one->name, one->value, expr);
    return expr;
  }
  Expr index() const { return Halide::Internal::substitute_in_all_lets(with_lets(store()->index)); }
  // The statement with another one in the store's place.
  Stmt with(Stmt stmt) const {
    for (auto one = around_.rbegin(); one != around_.rend(); ++one) {
      if (one->is_let())
        stmt = LetStmt::make(one->name, one->value, stmt);
      else
        stmt = end_ == End::First ? Block::make(stmt, one->statements) : Block::make(one->statements, stmt);
    }
    return stmt;
  }
  bool names_any_of(const Stmt& other) const {
    std::set<std::string> names;
    for (const auto& one : around_)
      if (one.is_let()) names.insert(one.name);
    Uses uses(std::move(names));
    other.accept(&uses);
    return uses.found;
  }

 private:
  struct Around {
    std::string name;  // of a value; "" for statements
    Expr value;
    Stmt statements;
    bool is_let() const { return !name.empty(); }
  };
  End end_;
  std::vector<Around> around_;
  Stmt stmt_;
};

// The Func of a first part (`part` is ".0") or of a second; nullopt for other names.
std::optional<std::string> func_of(const std::string& name, const std::string& part) {
  if (!name.ends_with(part)) return std::nullopt;
  return name.substr(0, name.size() - part.size());
}

// The real and the imaginary part of one element, the second of which reads the first.
bool are_dependent_parts(const EndStore& first, const EndStore& second) {
  if (!first.store() || !second.store()) return false;
  const auto func = func_of(first.store()->name, ".0");
  if (!func || func_of(second.store()->name, ".1") != func) return false;
  if (!Halide::Internal::equal(first.index(), second.index())) return false;
  Loads loads(first.store()->name);
  second.with_lets(second.store()->value).accept(&loads);
  return loads.found;
}

// The names around the second store come before the first one, too.
Stmt stored_together(const EndStore& first, const EndStore& second) {
  const Store* op = second.store();
  const std::string name = Halide::Internal::unique_name(op->name + ".value");
  const Expr value = Halide::Internal::Variable::make(op->value.type(), name);
  const Stmt store = Store::make(op->name, value, op->index, op->param, op->predicate, op->alignment);
  const Stmt both = Block::make(first.store(), store);
  return first.with(second.with(LetStmt::make(name, op->value, both)));
}

// Goes through a kernel in the order in which it runs.
class LateReads : public Halide::Internal::IRVisitor {
 public:
  std::string found;  // a Func whose second part is computed from the first that is stored already

 protected:
  using IRVisitor::visit;
  void visit(const Store* op) override {
    IRVisitor::visit(op);
    if (const auto func = func_of(op->name, ".1")) {
      if (reads_late(op->value, *func)) found = *func;
      stored_.erase(*func);
      late_names_.erase(*func);
    }
    if (const auto func = func_of(op->name, ".0")) stored_[*func] = op->index;
  }
  void visit(const LetStmt* op) override {
    for (const auto& [func, index] : stored_)
      if (reads_late(op->value, func)) late_names_[func].insert(op->name);
    op->body.accept(this);
  }

 private:
  // Whether an expression reads a first part that is stored, where that may be the same element.
  bool reads_late(const Expr& expr, const std::string& func) const {
    const auto stored = stored_.find(func);
    if (stored == stored_.end()) return false;
    const auto names = late_names_.find(func);
    Loads loads(func + ".0", stored->second, names == late_names_.end() ? std::set<std::string>() : names->second);
    expr.accept(&loads);
    return loads.found;
  }

  std::map<std::string, Expr> stored_;                       // by Func: where
  std::map<std::string, std::set<std::string>> late_names_;  // by Func: names of values that read it since
};

}  // namespace

Stmt TupleStores::visit(const Block* op) {
  std::vector<Stmt> statements, result;
  flatten(op, statements);
  for (size_t i = 0; i < statements.size(); ++i) {
    if (i + 1 < statements.size()) {
      const EndStore first(statements[i], End::Last), second(statements[i + 1], End::First);
      if (are_dependent_parts(first, second) && !first.names_any_of(statements[i + 1]) &&
          !second.names_any_of(first.store())) {
        statements[i + 1] = stored_together(first, second);  // whose end may go with what is behind it
        continue;
      }
    }
    result.push_back(mutate(statements[i]));
  }
  return Block::make(result);
}

Stmt TupleStoresCheck::mutate(const Stmt& stmt) {
  LateReads reads;
  stmt.accept(&reads);
  if (!reads.found.empty())
    throw Halide::CompileError(
        fmt::format("the second part of {} is computed from the first after that is stored", reads.found));
  return stmt;
}

}  // namespace tile_tune::codegen
