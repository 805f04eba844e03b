#include "codegen/lower/by_lanes.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

bool is_plain(const Expr& expr) {
  struct : IRVisitor {
    using IRVisitor::visit;
    void visit(const Call* op) override {
      if (!Call::as_tag(op) && !op->is_intrinsic(Call::strict_add) && !op->is_intrinsic(Call::strict_mul))
        plain = false;
      IRVisitor::visit(op);
    }
    void visit(const Select*) override { plain = false; }
    void visit(const Let*) override { plain = false; }
    bool plain = true;
  } look;
  expr.accept(&look);
  return look.plain;
}

using LanesByName = std::map<std::string, std::vector<Expr>>;

bool uses_one_of(const Expr& expr, const LanesByName& names) {
  return std::any_of(names.begin(), names.end(), [&](const auto& name) { return expr_uses_var(expr, name.first); });
}

// Vector loads by names of their own, but for those whose index is computed by lanes.
class NameLoads : public IRMutator {
 public:
  explicit NameLoads(const LanesByName& lanes) : lanes_(lanes) {}

  std::vector<std::pair<std::string, Expr>> names;

 private:
  using IRMutator::visit;
  Expr visit(const Load* op) override {
    if (op->type.is_scalar() || !names_may_stand_outside_ || uses_one_of(op->index, lanes_))
      return IRMutator::visit(op);
    for (const auto& [name, value] : names)
      if (equal(value, Expr(op))) return Variable::make(op->type, name);
    names.emplace_back(unique_name('v'), Expr(op));
    return Variable::make(op->type, names.back().first);
  }
  // What is loaded inside may depend on the value that is named.
  Expr visit(const Let* op) override {
    const Expr value = mutate(op->value);
    const bool before = std::exchange(names_may_stand_outside_, false);
    const Expr body = mutate(op->body);
    names_may_stand_outside_ = before;
    return Let::make(op->name, value, body);
  }

  const LanesByName& lanes_;
  bool names_may_stand_outside_ = true;
};

// One lane of an expression.
class Lane : public IRMutator {
 public:
  Lane(int lane, const LanesByName& lanes) : lane_(lane), lanes_(lanes) {}

  using IRMutator::mutate;
  Expr mutate(const Expr& expr) override {
    return expr.type().is_scalar() && named_.empty() ? expr : IRMutator::mutate(expr);
  }

 private:
  using IRMutator::visit;

  Expr at_lane(const Expr& expr, int lane) {
    const int before = std::exchange(lane_, lane);
    const Expr result = mutate(expr);
    lane_ = before;
    return result;
  }

  Expr visit(const Ramp* op) override { return mutate(op->base) + mutate(op->stride) * lane_; }
  Expr visit(const Broadcast* op) override {
    return op->value.type().is_scalar() ? mutate(op->value) : at_lane(op->value, lane_ % op->value.type().lanes());
  }
  Expr visit(const Variable* op) override {
    const auto found = named_.find(op->name);
    if (found != named_.end()) return found->second;
    if (const auto outer = lanes_.find(op->name); outer != lanes_.end())
      return outer->second[static_cast<size_t>(lane_)];
    return op->type.is_scalar() ? Expr(op) : Shuffle::make_extract_element(op, lane_);
  }
  Expr visit(const Load* op) override {
    if (op->type.is_scalar()) return IRMutator::visit(op);
    return Load::make(op->type.element_of(), op->name, mutate(op->index), op->image, op->param, mutate(op->predicate),
                      ModulusRemainder());
  }
  Expr visit(const Cast* op) override { return Cast::make(op->type.element_of(), mutate(op->value)); }
  Expr visit(const Reinterpret* op) override { return Reinterpret::make(op->type.element_of(), mutate(op->value)); }
  Expr visit(const Call* op) override {
    std::vector<Expr> arguments;
    for (const auto& argument : op->args) arguments.push_back(mutate(argument));
    return Call::make(op->type.element_of(), op->name, arguments, op->call_type, op->func, op->value_index, op->image,
                      op->param);
  }
  Expr visit(const Shuffle* op) override {
    int index = op->indices[static_cast<size_t>(lane_)];
    for (const auto& vector : op->vectors) {
      if (index < vector.type().lanes()) return at_lane(vector, index);
      index -= vector.type().lanes();
    }
    return op;
  }
  Expr visit(const Let* op) override {
    const Expr value = mutate(op->value), name = Variable::make(value.type(), unique_name('n'));
    named_[op->name] = name;
    const Expr body = mutate(op->body);
    named_.erase(op->name);
    return Let::make(name.as<Variable>()->name, value, body);
  }

  int lane_;
  const LanesByName& lanes_;
  std::map<std::string, Expr> named_;
};

// OpenCL has no vectors of so many elements.
bool is_odd(const Expr& vector) {
  const int lanes = vector.type().lanes();
  return lanes > 4 && lanes != 8 && lanes != 16;
}

}  // namespace

bool ByLanes::goes_by_lanes(const Expr& value) const {
  return !value.type().is_scalar() && (!is_plain(value) || uses_one_of(value, lanes_));
}

std::vector<Expr> ByLanes::lanes_of(const Expr& value) const {
  std::vector<Expr> lanes;
  for (int lane = 0; lane < value.type().lanes(); ++lane) lanes.push_back(Lane(lane, lanes_).mutate(value));
  return lanes;
}

Stmt ByLanes::with_names(const std::vector<std::pair<std::string, Expr>>& names, Stmt stmt) {
  for (auto name = names.rbegin(); name != names.rend(); ++name) stmt = LetStmt::make(name->first, name->second, stmt);
  return stmt;
}

Stmt ByLanes::visit(const Store* op) {
  const bool index_by_lanes = uses_one_of(op->index, lanes_);
  if (!goes_by_lanes(op->value) && !index_by_lanes) return IRMutator::visit(op);
  NameLoads loads(lanes_);
  const Expr value = loads.mutate(op->value);
  const Expr index = index_by_lanes ? Shuffle::make_concat(lanes_of(op->index)) : op->index;
  return with_names(loads.names, Store::make(op->name, Shuffle::make_concat(lanes_of(value)), index, op->param,
                                             op->predicate, op->alignment));
}

Stmt ByLanes::visit(const LetStmt* op) {
  if (!goes_by_lanes(op->value)) return IRMutator::visit(op);
  NameLoads loads(lanes_);
  auto names = std::vector<std::pair<std::string, Expr>>();
  const Expr value = loads.mutate(op->value);
  auto& lanes = lanes_[op->name];
  for (const auto& lane : lanes_of(value)) {
    names.emplace_back(unique_name(op->name), lane);
    lanes.push_back(Variable::make(lane.type(), names.back().first));
  }
  Stmt body = mutate(op->body);
  lanes_.erase(op->name);
  return with_names(loads.names, with_names(names, body));
}

Expr OddVectors::visit(const Shuffle* op) {
  if (std::none_of(op->vectors.begin(), op->vectors.end(), is_odd)) return IRMutator::visit(op);
  const LanesByName no_names;
  std::vector<Expr> lanes;
  for (int lane = 0; lane < op->type.lanes(); ++lane) lanes.push_back(Lane(lane, no_names).mutate(op));
  return lanes.size() == 1 ? lanes.front() : Shuffle::make_concat(lanes);
}

Stmt OddVectors::visit(const Store* op) {
  const auto* index = op->index.as<Ramp>();
  if (!is_odd(op->value) || !index || !index->base.type().is_scalar() || !is_const_one(op->predicate))
    return IRMutator::visit(op);
  const LanesByName no_names;
  const int all = op->value.type().lanes(), part = all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
  std::vector<Stmt> stores;
  for (int first = 0; first < all; first += part) {
    std::vector<Expr> lanes;
    for (int lane = first; lane < first + part; ++lane) lanes.push_back(Lane(lane, no_names).mutate(op->value));
    const Expr base = index->base + index->stride * first;
    stores.push_back(Store::make(op->name, part == 1 ? lanes.front() : Shuffle::make_concat(lanes),
                                 part == 1 ? base : Ramp::make(base, index->stride, part), op->param, const_true(part),
                                 ModulusRemainder()));
  }
  return Block::make(stores);
}

Expr SumsByLanes::visit(const VectorReduce* op) {
  if (op->op != VectorReduce::Add || !op->type.is_scalar()) return IRMutator::visit(op);
  const LanesByName no_names;
  Expr sum;
  for (int lane = 0; lane < op->value.type().lanes(); ++lane) {
    const Expr one = Lane(lane, no_names).mutate(op->value);
    sum = sum.defined() ? sum + one : one;
  }
  return sum;
}

Expr ExactNumbers::visit(const FloatImm* op) {
  const bool is_single = static_cast<double>(static_cast<float>(op->value)) == op->value;
  if (op->type.bits() != 64 || is_single || op->value != op->value) return op;
  return Reinterpret::make(op->type, UIntImm::make(Halide::UInt(64), std::bit_cast<uint64_t>(op->value)));
}

}  // namespace tile_tune::codegen
