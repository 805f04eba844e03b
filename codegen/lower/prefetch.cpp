// Loads that ask for what a later iteration reads (Prefetch, codegen/schedule/schedule.h).
//
// Halide's own prefetch() belongs to a loop of one Func, and asks for all that an iteration of it will need at once:
// 64 lines for a row of softmax, more than a core can wait for. (By hand in C, 4096 x 1024 on two Zen 4 cores: no gain,
// where one line with every vector loaded took 0.76 of the time without.)
#include "codegen/schedule/prefetch.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "codegen/lower/code_passes.h"
#include "codegen/target/target.h"

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

/// By Func and buffer: elements from each vector that the Func's loops load to the one to ask for.
using Distances = std::map<std::string, std::map<std::string, int64_t>>;

void add_distances(const ir::Program& program, const ScheduledNest& nest, Distances& distances) {
  const auto& [schedule, stage, placement] = nest;
  std::vector<Halide::Func> funcs{placement.stored.tiled};
  for (const auto& sums : stage.reduction ? funcs_of(*stage.reduction) : std::vector<Halide::Func>())
    funcs.push_back(sums);
  for (const auto& prefetch : schedule.prefetches) {
    const auto& operand = stage.loops.operands[prefetch.operand];
    const auto& tensor = program.tensors[operand.tensor];
    const auto bytes = bytes_ahead(program, stage.loops, schedule, prefetch);
    const int64_t elements = bytes.value() / static_cast<int64_t>(dtype_size(tensor.type));
    for (const auto& func : funcs) distances[func.name()].emplace(parameter_name(operand.tensor), elements);
  }
}

class LoadsAhead : public IRMutator {
 public:
  explicit LoadsAhead(Distances distances) : distances_(std::move(distances)) {}

 private:
  using IRMutator::visit;
  Stmt visit(const ProducerConsumer* op) override;
  Stmt visit(const For* op) override;
  Stmt visit(const IfThenElse* op) override;
  Stmt visit(const LetStmt* op) override;
  Stmt visit(const Store* op) override;

  /// `stmt` behind what asks for the vectors that follow those in `value`.
  Stmt after_asking(const Expr& value, Stmt stmt);

  Distances distances_;
  const std::map<std::string, int64_t>* of_func_ = nullptr;  // of the Func whose loops we are in
  std::vector<Expr> asked_;                                  // on the way to here, in this iteration
};

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
    const int a_line = static_cast<int>(kLineBytes) / load->type.element_of().bytes();
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

}  // namespace

std::optional<CodePass> loads_ahead(const ir::Program& program, const std::map<int, ScheduledNest>& nests) {
  Distances distances;
  for (const auto& [owner, nest] : nests) add_distances(program, nest, distances);
  if (distances.empty()) return std::nullopt;
  return CodePass{std::make_unique<LoadsAhead>(std::move(distances)),
                  "Not in it: loads ahead of their use, which are put into the lowered code."};
}

}  // namespace tile_tune::codegen
