#include "codegen/lower/border_loads.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

constexpr const char* kLane = "tile_tune_lane";
constexpr int kMostApart = 4;  // elements from lane to lane; a chosen bound, windows with wider steps are rare

using Names = Scope<Expr>;

bool is_index(const Expr& expr) { return expr.type().element_of() == Halide::Int(32); }

// An index as a linear function of the lane; undefined where it is none.
Expr of_lane(const Expr& index, const Names& names) {
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

// The linear function of a comparison that is not negative where it holds, or where it fails.
void differences_of(const Expr& condition, bool holds, const Names& names, std::vector<Expr>& result) {
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

// An index without its clamps, and by how much these leave lanes alone.
struct Unclamped {
  Expr index;
  std::vector<Expr> differences;
};

std::optional<Unclamped> unclamped(const Expr& index, const Names& names) {
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

// A function of the lane at as many elements of memory from the given one on, of which there are `apart` a lane.
Expr at_elements(const Expr& of_lane, int begin, int elements, int apart) {
  const Expr first = simplify(substitute(kLane, 0, of_lane));
  const auto step = as_const_int(simplify(substitute(kLane, 1, of_lane) - first));
  if (!step || *step % apart != 0) return {};
  const int slope = static_cast<int>(*step) / apart;
  const Expr from = simplify(first + begin * slope);
  return slope == 0 ? Broadcast::make(from, elements) : Ramp::make(from, slope, elements);
}

}  // namespace

bool BorderLoads::is_known(const Expr& difference) const {
  for (const Expr& known : known_)
    if (const auto margin = as_const_int(simplify(difference - known)); margin && *margin >= 0) return true;
  return false;
}

Expr BorderLoads::under_mask(const Load& load) const {
  const int lanes = load.type.lanes();
  if (!target_.has_masked_loads(load.type.bits(), load.type.is_float()) || !is_const_one(load.predicate) ||
      lanes != lanes_)
    return {};
  const auto whole = unclamped(load.index, names_);
  if (!whole || whole->differences.empty()) return {};
  const Expr first = simplify(substitute(kLane, 0, whole->index));
  const auto distance = as_const_int(simplify(substitute(kLane, 1, whole->index) - first));
  if (!distance || *distance < 1 || *distance > kMostApart) return {};
  const int apart = static_cast<int>(*distance);
  std::vector<Expr> pieces;
  for (int begin = 0; begin < lanes * apart; begin += lanes) {
    const Expr base = simplify(first + begin);
    // Halide 21 takes no negative constant for the beginning of a vector.
    if (const auto constant = as_const_int(base); constant && *constant < 0) return {};
    // Behind the last lane there may be no memory.
    Expr mask = Ramp::make(begin, 1, lanes) <= Broadcast::make((lanes - 1) * apart, lanes);
    for (const Expr& difference : whole->differences) {
      const Expr inside = at_elements(difference, begin, lanes, apart);
      if (!inside.defined() || !is_known(difference)) return {};
      mask = mask && make_zero(inside.type()) <= inside;
    }
    mask = simplify(mask);
    const Expr loaded =
        Load::make(load.type, load.name, Ramp::make(base, 1, lanes), load.image, load.param, mask, ModulusRemainder());
    // What the other lanes hold is defined, as of any element: they may be computed with.
    pieces.push_back(Select::make(mask, loaded, make_zero(load.type)));
  }
  return apart == 1 ? pieces.front() : Shuffle::make_slice(Shuffle::make_concat(pieces), 0, apart, lanes);
}

Expr BorderLoads::under_mask(const Shuffle& repeated) const {
  const int lanes = repeated.type.lanes();
  const auto* load = repeated.vectors.size() == 1 ? repeated.vectors.front().as<Load>() : nullptr;
  const auto* ramp = load ? load->index.as<Ramp>() : nullptr;
  if (!ramp || !ramp->base.type().is_scalar() || lanes != lanes_ || !is_const_one(ramp->stride) ||
      !is_const_one(load->predicate) || !target_.has_masked_loads(load->type.bits(), load->type.is_float()))
    return {};
  const int last = load->type.lanes() - 1;
  for (int lane = 0; lane < lanes; ++lane)
    if (repeated.indices[lane] != std::min(lane, last)) return {};
  if (!is_known(last - Variable::make(Halide::Int(32), kLane))) return {};
  const Expr mask = Ramp::make(0, 1, lanes) <= Broadcast::make(last, lanes);
  const Expr index = Ramp::make(ramp->base, make_one(ramp->base.type()), lanes);
  const Expr loaded =
      Load::make(load->type.with_lanes(lanes), load->name, index, load->image, load->param, mask, load->alignment);
  return Select::make(mask, loaded, make_zero(loaded.type()));
}

Expr BorderLoads::with_known(std::vector<Expr> differences, int lanes, const Expr& value) {
  if (lanes == lanes_) differences.insert(differences.end(), known_.begin(), known_.end());
  const ScopedValue<std::vector<Expr>> known(known_, std::move(differences));
  const ScopedValue<int> width(lanes_, lanes);
  return mutate(value);
}

Expr BorderLoads::visit(const Select* op) {
  const int lanes = op->condition.type().lanes();
  if (lanes == 1) return IRMutator::visit(op);
  std::vector<Expr> where_true, where_false;
  differences_of(op->condition, true, names_, where_true);
  differences_of(op->condition, false, names_, where_false);
  const Expr condition = mutate(op->condition), if_true = with_known(where_true, lanes, op->true_value),
             if_false = with_known(where_false, lanes, op->false_value);
  return Select::make(condition, if_true, if_false);
}

Expr BorderLoads::visit(const Shuffle* op) {
  const Expr masked = known_.empty() ? Expr() : under_mask(*op);
  return masked.defined() ? masked : without_known(op);
}

Expr BorderLoads::visit(const Load* op) {
  const Expr masked = known_.empty() ? Expr() : under_mask(*op);
  // What an address is made of has to be right in every lane.
  const ScopedValue<std::vector<Expr>> unknown(known_, {});
  return masked.defined() ? masked : IRMutator::visit(op);
}

}  // namespace tile_tune::codegen
