#include "codegen/lower/tuple_stores.h"

#include <string>
#include <utility>
#include <vector>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using Halide::Internal::Block;
using Halide::Internal::LetStmt;
using Halide::Internal::Stmt;
using Halide::Internal::Store;

void flatten(const Stmt& stmt, std::vector<Stmt>& statements) {
  if (const auto* block = stmt.as<Block>()) {
    flatten(block->first, statements);
    flatten(block->rest, statements);
  } else {
    statements.push_back(stmt);
  }
}

class Loads : public Halide::Internal::IRVisitor {
 public:
  explicit Loads(std::string name) : name_(std::move(name)) {}
  bool found = false;

 protected:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Load* op) override {
    found |= op->name == name_;
    IRVisitor::visit(op);
  }

 private:
  std::string name_;
};

// A store and the values named around it, outermost first. The first `shared` of them are also names for the
// statements behind it.
struct NamedStore {
  std::vector<std::pair<std::string, Expr>> lets;
  size_t shared = 0;
  const Store* store = nullptr;
  std::vector<Stmt> rest;

  explicit NamedStore(Stmt stmt) {
    stmt = without_lets(stmt);
    shared = lets.size();
    flatten(stmt, rest);
    stmt = without_lets(rest.front());
    rest.erase(rest.begin());
    store = stmt.as<Store>();
  }

  Stmt without_lets(Stmt stmt) {
    while (const auto* let = stmt.as<LetStmt>()) {
      lets.emplace_back(let->name, let->value);
      stmt = let->body;
    }
    return stmt;
  }
  Expr with_lets(Expr expr) const {
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
      expr = Halide::Internal::Let::make(let->first, let->second, expr);
    return expr;
  }
  Stmt with_lets(Stmt stmt, const Stmt& behind) const {
    for (size_t i = lets.size(); i-- > 0;) {
      if (i + 1 == shared && behind.defined()) stmt = Block::make(stmt, behind);
      stmt = LetStmt::make(lets[i].first, lets[i].second, stmt);
    }
    return shared == 0 && behind.defined() ? Block::make(stmt, behind) : stmt;
  }
  Expr index() const { return Halide::Internal::substitute_in_all_lets(with_lets(store->index)); }
};

// The real and the imaginary part of one element, the second of which reads the first.
bool are_dependent_parts(const NamedStore& first, const NamedStore& second) {
  if (!first.store || !first.rest.empty() || !second.store || !first.store->name.ends_with(".0")) return false;
  const std::string func = first.store->name.substr(0, first.store->name.size() - 2);
  if (second.store->name != func + ".1" || !Halide::Internal::equal(first.index(), second.index())) return false;
  Loads loads(first.store->name);
  second.with_lets(second.store->value).accept(&loads);
  return loads.found;
}

Stmt stored_together(const Stmt& first, const NamedStore& second, const Stmt& rest) {
  const Store* op = second.store;
  const std::string name = Halide::Internal::unique_name(op->name + ".value");
  const Expr value = Halide::Internal::Variable::make(op->value.type(), name);
  const Stmt store = Store::make(op->name, value, op->index, op->param, op->predicate, op->alignment);
  return LetStmt::make(name, second.with_lets(op->value), Block::make(first, second.with_lets(store, rest)));
}

}  // namespace

Stmt TupleStores::visit(const Block* op) {
  std::vector<Stmt> statements, result;
  flatten(op, statements);
  for (size_t i = 0; i < statements.size(); ++i) {
    if (i + 1 < statements.size()) {
      const NamedStore second(statements[i + 1]);
      if (are_dependent_parts(NamedStore(statements[i]), second)) {
        const Stmt rest = second.rest.empty() ? Stmt() : mutate(Block::make(second.rest));
        result.push_back(stored_together(statements[i], second, rest));
        ++i;
        continue;
      }
    }
    result.push_back(mutate(statements[i]));
  }
  return Block::make(result);
}

}  // namespace tile_tune::codegen
