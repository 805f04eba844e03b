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

// A store and the values named around it, outermost first.
struct NamedStore {
  std::vector<std::pair<std::string, Expr>> lets;
  const Store* store = nullptr;

  explicit NamedStore(Stmt stmt) {
    while (const auto* let = stmt.as<LetStmt>()) {
      lets.emplace_back(let->name, let->value);
      stmt = let->body;
    }
    store = stmt.as<Store>();
  }

  Expr with_lets(Expr expr) const {
    for (auto let = lets.rbegin(); let != lets.rend(); ++let)
      expr = Halide::Internal::Let::make(let->first, let->second, expr);
    return expr;
  }
  Stmt with_lets(Stmt stmt) const {
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) stmt = LetStmt::make(let->first, let->second, stmt);
    return stmt;
  }
  Expr index() const { return Halide::Internal::substitute_in_all_lets(with_lets(store->index)); }
};

// The real and the imaginary part of one element, the second of which reads the first.
bool are_dependent_parts(const NamedStore& first, const NamedStore& second) {
  if (!first.store || !second.store || !first.store->name.ends_with(".0")) return false;
  const std::string func = first.store->name.substr(0, first.store->name.size() - 2);
  if (second.store->name != func + ".1" || !Halide::Internal::equal(first.index(), second.index())) return false;
  Loads loads(first.store->name);
  second.with_lets(second.store->value).accept(&loads);
  return loads.found;
}

Stmt stored_together(const Stmt& first, const NamedStore& second) {
  const Store* op = second.store;
  const std::string name = Halide::Internal::unique_name(op->name + ".value");
  const Expr value = Halide::Internal::Variable::make(op->value.type(), name);
  const Stmt store = Store::make(op->name, value, op->index, op->param, op->predicate, op->alignment);
  return LetStmt::make(name, second.with_lets(op->value), Block::make(first, second.with_lets(store)));
}

}  // namespace

Stmt TupleStores::visit(const Block* op) {
  std::vector<Stmt> statements, result;
  flatten(op, statements);
  for (size_t i = 0; i < statements.size(); ++i) {
    if (i + 1 < statements.size()) {
      const NamedStore second(statements[i + 1]);
      if (are_dependent_parts(NamedStore(statements[i]), second)) {
        result.push_back(stored_together(statements[i], second));
        ++i;
        continue;
      }
    }
    result.push_back(mutate(statements[i]));
  }
  return Block::make(result);
}

}  // namespace tile_tune::codegen
