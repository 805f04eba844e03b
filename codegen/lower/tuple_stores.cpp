#include "codegen/lower/tuple_stores.h"

#include <string>
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

// The real and the imaginary part of one element, the second of which reads the first.
bool are_dependent_parts(const Store* first, const Store* second) {
  if (!first || !second || !first->name.ends_with(".0")) return false;
  const std::string func = first->name.substr(0, first->name.size() - 2);
  if (second->name != func + ".1" || !Halide::Internal::equal(first->index, second->index)) return false;
  Loads loads(first->name);
  second->value.accept(&loads);
  return loads.found;
}

Stmt stored_together(const Stmt& first, const Store* second) {
  const std::string name = Halide::Internal::unique_name(second->name + ".value");
  const Expr value = Halide::Internal::Variable::make(second->value.type(), name);
  const Stmt store =
      Store::make(second->name, value, second->index, second->param, second->predicate, second->alignment);
  return LetStmt::make(name, second->value, Block::make(first, store));
}

}  // namespace

Stmt TupleStores::visit(const Block* op) {
  std::vector<Stmt> statements, result;
  flatten(op, statements);
  for (size_t i = 0; i < statements.size(); ++i) {
    const auto* second = i + 1 < statements.size() ? statements[i + 1].as<Store>() : nullptr;
    if (are_dependent_parts(statements[i].as<Store>(), second)) {
      result.push_back(stored_together(statements[i], second));
      ++i;
    } else {
      result.push_back(mutate(statements[i]));
    }
  }
  return Block::make(result);
}

}  // namespace tile_tune::codegen
