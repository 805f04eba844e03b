#include "codegen/lower/border_loads.h"

#include <algorithm>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

// A function of the lane at as many elements of memory from the given one on, of which there are `apart` a lane; where
// it is no integer between lanes, its multiple by `apart`, which is as negative.
Expr at_elements(const Expr& of_lane, int begin, int elements, int apart) {
  const Expr first = simplify(substitute(kLane, 0, of_lane));
  const auto step = as_const_int(simplify(substitute(kLane, 1, of_lane) - first));
  if (!step) return {};
  const bool is_whole = *step % apart == 0;
  const int slope = static_cast<int>(*step) / (is_whole ? apart : 1);
  const Expr from = simplify(first * (is_whole ? 1 : apart) + begin * slope);
  return slope == 0 ? Broadcast::make(from, elements) : Ramp::make(from, slope, elements);
}

}  // namespace

Expr BorderLoads::under_mask(const Load& load) const {
  const int lanes = load.type.lanes();
  if (!target_.has_masked_loads(load.type.bits(), load.type.is_float()) || !is_const_one(load.predicate) ||
      lanes != lanes_)
    return {};
  const auto whole = unclamped(load.index, names_);
  if (!whole || whole->differences.empty()) return {};
  const Expr first = simplify(substitute(kLane, 0, whole->index));
  const auto apart_or = elements_apart(whole->index);
  if (!apart_or) return {};
  const int apart = *apart_or;
  std::vector<Expr> pieces;
  for (int begin = 0; begin < lanes * apart; begin += lanes) {
    const Expr base = simplify(first + begin);
    // Halide 21 takes no negative constant for the beginning of a vector.
    if (const auto constant = as_const_int(base); constant && *constant < 0) return {};
    // Behind the last lane there may be no memory.
    Expr mask = Ramp::make(begin, 1, lanes) <= Broadcast::make((lanes - 1) * apart, lanes);
    for (const Expr& difference : whole->differences) {
      const Expr inside = at_elements(difference, begin, lanes, apart);
      if (!inside.defined() || !follows_from(known_, difference)) return {};
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
  if (!follows_from(known_, last - Variable::make(Halide::Int(32), kLane))) return {};
  const Expr mask = Ramp::make(0, 1, lanes) <= Broadcast::make(last, lanes);
  const Expr index = Ramp::make(ramp->base, make_one(ramp->base.type()), lanes);
  const Expr loaded =
      Load::make(load->type.with_lanes(lanes), load->name, index, load->image, load->param, mask, load->alignment);
  return Select::make(mask, loaded, make_zero(loaded.type()));
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
