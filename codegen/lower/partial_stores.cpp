#include "codegen/lower/partial_stores.h"

#include <optional>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

// Of a predicate that holds for the first lanes, how many these are.
std::optional<int64_t> first_lanes(const Expr& predicate) {
  const auto* at_most = predicate.as<LE>();
  const auto* less = predicate.as<LT>();
  if (!at_most && !less) return std::nullopt;
  const auto* ramp = (at_most ? at_most->a : less->a).as<Ramp>();
  const auto* bound = (at_most ? at_most->b : less->b).as<Broadcast>();
  if (!ramp || !bound || !is_const_zero(ramp->base) || !is_const_one(ramp->stride)) return std::nullopt;
  const auto number = as_const_int(bound->value);
  if (!number) return std::nullopt;
  return at_most ? *number + 1 : *number;
}

}  // namespace

Stmt PartialStores::visit(const Store* op) {
  const int lanes = op->value.type().lanes(), half = lanes / 2;
  const auto count = first_lanes(op->predicate);
  const auto* to = op->index.as<Ramp>();
  if (target_.has_masked_stores(op->value.type().bits()) || !count || !to || !is_const_one(to->stride) || lanes < 4 ||
      *count <= half || *count >= lanes)
    return IRMutator::visit(op);
  const std::string name = unique_name(op->name + ".value");
  const Expr value = Variable::make(op->value.type(), name);
  const auto half_from = [&](int lane) {
    const Halide::Type type = to->base.type();
    const Expr index = Ramp::make(to->base + make_const(type, lane), make_one(type), half);
    return Store::make(op->name, Shuffle::make_slice(value, lane, 1, half), index, op->param, const_true(half),
                       ModulusRemainder());
  };
  return LetStmt::make(name, mutate(op->value), Block::make(half_from(0), half_from(static_cast<int>(*count) - half)));
}

}  // namespace tile_tune::codegen
