#include "codegen/lower/shared_factors.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

bool is_strict_product(const Call* call) { return call->is_intrinsic(Call::strict_mul) && call->type.is_vector(); }

/// What a loop's body does. Nothing may be moved in one that has conditions or other loops.
class Body : public IRVisitor {
 public:
  bool stores_only = true;
  std::set<std::string> stored, named;
  std::vector<std::pair<const Call*, int>> products;  // how often each occurs

 private:
  using IRVisitor::visit;
  void visit(const For*) override { stores_only = false; }
  void visit(const IfThenElse*) override { stores_only = false; }
  void visit(const Allocate*) override { stores_only = false; }
  void visit(const Atomic*) override { stores_only = false; }
  void visit(const Store* op) override {
    stored.insert(op->name);
    IRVisitor::visit(op);
  }
  void visit(const LetStmt* op) override {
    named.insert(op->name);
    IRVisitor::visit(op);
  }
  void visit(const Let* op) override {
    named.insert(op->name);
    IRVisitor::visit(op);
  }
  void visit(const Call* op) override {
    if (!is_strict_product(op)) return IRVisitor::visit(op);
    const auto known = std::find_if(products.begin(), products.end(),
                                    [&](const auto& product) { return equal(Expr(product.first), Expr(op)); });
    if (known == products.end())
      products.push_back({op, 1});
    else
      ++known->second;
  }
};

/// Whether a value is the same at the beginning of the body.
class Movable : public IRVisitor {
 public:
  explicit Movable(const Body& body) : body_(body) {}
  bool holds = true;

 private:
  using IRVisitor::visit;
  void visit(const Load* op) override {
    holds = holds && body_.stored.count(op->name) == 0;
    IRVisitor::visit(op);
  }
  void visit(const Variable* op) override { holds = holds && body_.named.count(op->name) == 0; }
  void visit(const Let*) override { holds = false; }

  const Body& body_;
};

}  // namespace

Stmt SharedFactors::visit(const For* op) {
  Body body;
  op->body.accept(&body);
  if (!body.stores_only) return IRMutator::visit(op);
  Stmt stmt = op->body;
  for (const auto& [product, count] : body.products) {
    Movable movable(body);
    Expr(product).accept(&movable);
    if (count < 2 || !movable.holds) continue;
    const std::string name = unique_name("shared");
    stmt = substitute(Expr(product), Variable::make(product->type, name), stmt);
    stmt = LetStmt::make(name, product, stmt);
  }
  if (stmt.same_as(op->body)) return op;
  return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, stmt);
}

}  // namespace tile_tune::codegen
