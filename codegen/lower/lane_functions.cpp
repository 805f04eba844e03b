#include "codegen/lower/lane_functions.h"

#include <utility>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

bool is_index(const Expr& expr) { return expr.type().element_of() == Halide::Int(32); }

}  // namespace

Expr of_lane(const Expr& index, const VectorNames& names) {
  if (!is_index(index)) return {};
  if (index.type().is_scalar()) return index;
  if (const auto* broadcast = index.as<Broadcast>(); broadcast && broadcast->value.type().is_scalar())
    return broadcast->value;
  if (const auto* ramp = index.as<Ramp>(); ramp && ramp->base.type().is_scalar())
    return ramp->base + Variable::make(Halide::Int(32), kLane) * ramp->stride;
  if (const auto* variable = index.as<Variable>(); variable && names.contains(variable->name))
    return of_lane(names.get(variable->name), names);
  const auto both = [&](const auto& op, auto combined) {
    const Expr a = of_lane(op.a, names), b = a.defined() ? of_lane(op.b, names) : Expr();
    return b.defined() ? combined(a, b) : Expr();
  };
  if (const auto* sum = index.as<Add>()) return both(*sum, [](const Expr& a, const Expr& b) { return a + b; });
  if (const auto* difference = index.as<Sub>())
    return both(*difference, [](const Expr& a, const Expr& b) { return a - b; });
  return {};
}

void differences_of(const Expr& condition, bool holds, const VectorNames& names, std::vector<Expr>& result) {
  const auto add = [&](const Expr& greater, const Expr& less, int least) {
    const Expr a = of_lane(greater, names), b = of_lane(less, names);
    if (a.defined() && b.defined()) result.push_back(a - b - least);
  };
  const auto both = [&](const auto& op) {
    differences_of(op.a, holds, names, result);
    differences_of(op.b, holds, names, result);
  };
  if (const auto* variable = condition.as<Variable>(); variable && names.contains(variable->name))
    differences_of(names.get(variable->name), holds, names, result);
  if (const auto* opposite = condition.as<Not>()) differences_of(opposite->a, !holds, names, result);
  if (const auto* conjunction = condition.as<And>(); conjunction && holds) both(*conjunction);
  if (const auto* disjunction = condition.as<Or>(); disjunction && !holds) both(*disjunction);
  if (const auto* less = condition.as<LT>()) holds ? add(less->b, less->a, 1) : add(less->a, less->b, 0);
  if (const auto* at_most = condition.as<LE>()) holds ? add(at_most->b, at_most->a, 0) : add(at_most->a, at_most->b, 1);
}

std::optional<Unclamped> unclamped(const Expr& index, const VectorNames& names) {
  if (!is_index(index)) return std::nullopt;
  const auto bounded = [&](const auto& op, bool from_below) -> std::optional<Unclamped> {
    const bool first = op.a.template as<Broadcast>() == nullptr;
    auto inner = unclamped(first ? op.a : op.b, names);
    const Expr bound = of_lane(first ? op.b : op.a, names);
    if (!inner || !bound.defined()) return std::nullopt;
    inner->differences.push_back(from_below ? inner->index - bound : bound - inner->index);
    return inner;
  };
  if (const auto* greater = index.as<Max>()) return bounded(*greater, true);
  if (const auto* less = index.as<Min>()) return bounded(*less, false);
  if (const auto* call = index.as<Call>()) {
    const auto shift = call->is_intrinsic(Call::shift_left) ? as_const_int(call->args[1]) : std::nullopt;
    if (shift) return unclamped(Mul::make(call->args[0], make_const(index.type(), int64_t{1} << *shift)), names);
    if (call->is_intrinsic(Call::widen_right_add)) return unclamped(simplify(lower_intrinsic(call)), names);
  }
  if (const auto* product = index.as<Mul>(); product && as_const_int(product->b)) {
    auto factor = unclamped(product->a, names);
    if (factor) factor->index = factor->index * make_const(Halide::Int(32), *as_const_int(product->b));
    return factor;
  }
  if (const auto* sum = index.as<Add>()) {
    auto a = unclamped(sum->a, names);
    const auto b = a ? unclamped(sum->b, names) : std::nullopt;
    if (!b) return std::nullopt;
    a->index = a->index + b->index;
    a->differences.insert(a->differences.end(), b->differences.begin(), b->differences.end());
    return a;
  }
  if (const auto* variable = index.as<Variable>(); variable && names.contains(variable->name))
    return unclamped(names.get(variable->name), names);
  const Expr lane = of_lane(index, names);
  return lane.defined() ? std::optional(Unclamped{lane, {}}) : std::nullopt;
}

bool follows_from(const std::vector<Expr>& known, const Expr& difference) {
  for (const Expr& one : known)
    for (int multiple = 1; multiple <= kMostApart; ++multiple)  // what is known of x, of a clamp of 2 x
      if (const auto margin = as_const_int(simplify(difference - one * multiple)); margin && *margin >= 0) return true;
  return false;
}

std::optional<int> elements_apart(const Expr& of_lane) {
  const auto distance = as_const_int(simplify(substitute(kLane, 1, of_lane) - substitute(kLane, 0, of_lane)));
  if (!distance || *distance < 1 || *distance > kMostApart) return std::nullopt;
  return static_cast<int>(*distance);
}

Expr SelectedLanes::chosen(std::vector<Expr> differences, int lanes, const Expr& value) {
  if (lanes == lanes_) differences.insert(differences.end(), known_.begin(), known_.end());
  const ScopedValue<std::vector<Expr>> known(known_, std::move(differences));
  const ScopedValue<int> width(lanes_, lanes);
  return mutate(value);
}

Expr SelectedLanes::visit(const Select* op) {
  const int lanes = op->condition.type().lanes();
  if (lanes == 1) return IRMutator::visit(op);
  std::vector<Expr> where_true, where_false;
  differences_of(op->condition, true, names_, where_true);
  differences_of(op->condition, false, names_, where_false);
  const Expr condition = mutate(op->condition), if_true = chosen(where_true, lanes, op->true_value),
             if_false = chosen(where_false, lanes, op->false_value);
  return is_const_one(condition)    ? if_true
         : is_const_zero(condition) ? if_false
                                    : Select::make(condition, if_true, if_false);
}

}  // namespace tile_tune::codegen
