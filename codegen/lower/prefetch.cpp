#include "codegen/lower/prefetch.h"

#include <algorithm>
#include <utility>

#include "codegen/schedule/prefetch.h"

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

/// Loads of neighbours, whose index is a ramp.
class VectorLoads : public IRVisitor {
 public:
  std::vector<const Load*> found;

 private:
  using IRVisitor::visit;
  void visit(const Load* op) override {
    const auto* ramp = op->index.as<Ramp>();
    if (ramp && is_const_one(ramp->stride) && ramp->base.type().is_scalar()) found.push_back(op);
    IRVisitor::visit(op);
  }
};

}  // namespace

void add_distances(const ir::Program& program, const StageSchedule& schedule, const Stage& stage,
                   Distances& distances) {
  for (const auto& prefetch : schedule.prefetches) {
    const auto& operand = stage.loops.operands[prefetch.operand];
    const auto& tensor = program.tensors[operand.tensor];
    const auto bytes = bytes_ahead(program, stage.loops, schedule, prefetch);
    const int64_t elements = bytes.value() / static_cast<int64_t>(dtype_size(tensor.type));
    for (const auto* func : {&stage.tiled, &stage.accumulator, &stage.partial})
      if (func->defined()) distances[func->name()].emplace(parameter_name(operand.tensor), elements);
  }
}

Stmt LoadsAhead::visit(const ProducerConsumer* op) {
  const auto* around = of_func_;
  if (op->is_producer) {
    const auto found = distances_.find(op->name);
    of_func_ = found == distances_.end() ? nullptr : &found->second;
  }
  Stmt result = IRMutator::visit(op);
  of_func_ = around;
  return result;
}

Stmt LoadsAhead::visit(const For* op) {
  const auto before = std::exchange(asked_, {});
  Stmt result = IRMutator::visit(op);
  asked_ = before;
  return result;
}

Stmt LoadsAhead::visit(const IfThenElse* op) {
  const auto before = asked_;
  Stmt result = IRMutator::visit(op);
  asked_ = before;
  return result;
}

Stmt LoadsAhead::visit(const LetStmt* op) { return after_asking(op->value, IRMutator::visit(op)); }

Stmt LoadsAhead::visit(const Store* op) { return after_asking(op->value, op); }

Stmt LoadsAhead::after_asking(const Expr& value, Stmt stmt) {
  if (!of_func_) return stmt;
  VectorLoads loads;
  const Expr whole = substitute_in_all_lets(value);  // which the asking stands outside of
  whole.accept(&loads);
  for (const Load* load : loads.found) {
    const auto distance = of_func_->find(load->name);
    if (distance == of_func_->end()) continue;
    const Expr base = load->index.as<Ramp>()->base;
    const int a_line = kLine / load->type.element_of().bytes();
    for (int lane = 0; lane < load->type.lanes(); lane += a_line) {
      const Expr element = simplify(base + make_const(base.type(), distance->second + lane));
      // A buffer, an offset in elements, and one line of it.
      const Expr asking = Call::make(load->type.element_of(), Call::prefetch,
                                     {Variable::make(Halide::Handle(), load->name), element, 1, 1}, Call::Intrinsic);
      if (std::any_of(asked_.begin(), asked_.end(), [&](const Expr& other) { return equal(other, asking); })) continue;
      asked_.push_back(asking);
      stmt = Block::make(Evaluate::make(asking), stmt);
    }
  }
  return stmt;
}

}  // namespace tile_tune::codegen
