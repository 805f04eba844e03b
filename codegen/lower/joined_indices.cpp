#include "codegen/lower/joined_indices.h"

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace tile_tune::codegen {
namespace {

using Halide::Expr;
using namespace Halide::Internal;

void add_terms(const Expr& sum, std::vector<Expr>& terms) {
  const auto* add = sum.as<Add>();
  if (!add) return terms.push_back(sum);
  add_terms(add->a, terms);
  add_terms(add->b, terms);
}

// factor * ((index / divisor) % modulus), the modulus 0 where there is none.
struct Part {
  Expr index;
  int64_t divisor = 1, modulus = 0, factor = 1;
};

std::optional<int64_t> constant(const Expr& expr) {
  if (const auto* broadcast = expr.as<Broadcast>()) return constant(broadcast->value);
  if (const auto* number = expr.as<UIntImm>()) return static_cast<int64_t>(number->value);
  return as_const_int(expr);
}

// A value times a constant, or divided by one, also as shifts: intrinsics that Halide has made before.
struct Scaled {
  Expr value;
  std::optional<int64_t> by;
};

Scaled shifted(const Expr& expr, Call::IntrinsicOp direction) {
  const auto* shift = Call::as_intrinsic(expr, {direction});
  if (!shift) return {expr, 1};
  const auto bits = constant(shift->args[1]);
  return {shift->args[0], bits && *bits >= 0 && *bits < 31 ? std::optional(int64_t{1} << *bits) : std::nullopt};
}

Scaled product_of(const Expr& expr) {
  if (const auto* product = expr.as<Mul>()) return {product->a, constant(product->b)};
  if (const auto* widening = Call::as_intrinsic(expr, {Call::widen_right_mul}))
    return {widening->args[0], constant(widening->args[1])};
  return shifted(expr, Call::shift_left);
}

Scaled quotient_of(const Expr& expr) {
  if (const auto* quotient = expr.as<Div>()) return {quotient->a, constant(quotient->b)};
  return shifted(expr, Call::shift_right);
}

// Of what is no remainder none.
Scaled remainder_of(const Expr& expr) {
  const auto* remainder = expr.as<Mod>();
  const auto* masked = Call::as_intrinsic(expr, {Call::bitwise_and});
  if (!remainder && !masked) return {expr, std::nullopt};
  auto modulus = constant(remainder ? remainder->b : masked->args[1]);
  if (modulus && masked) modulus = std::has_single_bit(static_cast<uint64_t>(*modulus) + 1) ? *modulus + 1 : 0;
  if (!modulus || *modulus < 2) return {expr, std::nullopt};
  return {remainder ? remainder->a : masked->args[0], modulus};
}

std::optional<Part> part_of(const Expr& term) {
  const auto [value, factor] = product_of(term);
  if (!factor) return std::nullopt;
  Part part{value, 1, 0, *factor};
  if (const auto [dividend, modulus] = remainder_of(part.index); modulus) {
    part.modulus = *modulus;
    part.index = dividend;
  }
  const auto [index, divisor] = quotient_of(part.index);
  if (!divisor || *divisor < 1) return std::nullopt;
  part.divisor = *divisor;
  part.index = index;
  if (part.divisor == 1 && part.modulus == 0) return std::nullopt;
  return part;
}

// They are equal but for whole turns of the modulus.
bool are_joined(const Part& quotient, const Part& remainder) {
  if (quotient.modulus != 0 || remainder.modulus == 0 || quotient.divisor != remainder.divisor * remainder.modulus ||
      quotient.factor != remainder.factor * remainder.modulus || quotient.index.type() != remainder.index.type())
    return false;
  const Expr turns = make_const(quotient.index.type(), quotient.divisor);
  return is_const_zero(simplify((quotient.index - remainder.index) % turns));
}

Expr expression(const Part& part) {
  Expr value = part.index;
  if (part.divisor != 1) value = value / make_const(value.type(), part.divisor);
  if (part.modulus != 0) value = value % make_const(value.type(), part.modulus);
  return value * make_const(value.type(), part.factor);
}

// Joins two of the parts that are quotients or remainders. False: none are.
bool join(std::vector<std::optional<Part>>& parts) {
  for (auto& quotient : parts)
    for (auto& remainder : parts)
      if (quotient && remainder && are_joined(*quotient, *remainder)) {
        quotient = Part{quotient->index, remainder->divisor, 0, remainder->factor};
        remainder.reset();
        return true;
      }
  return false;
}

}  // namespace

Expr JoinedIndices::visit(const Add* op) {
  if (!op->type.is_vector() || op->type.element_of() != Halide::Int(32)) return IRMutator::visit(op);
  std::vector<Expr> terms;
  add_terms(op, terms);
  std::vector<std::optional<Part>> parts;
  Expr others;
  for (const Expr& term : terms) {
    const auto part = part_of(term);
    if (part) parts.push_back(part);
    if (!part) others = others.defined() ? others + term : term;
  }
  bool joined = false;
  while (join(parts)) joined = true;
  if (!joined) return IRMutator::visit(op);
  Expr result = others;
  for (const auto& part : parts)
    if (part) result = result.defined() ? result + expression(*part) : expression(*part);
  return simplify(result);
}

}  // namespace tile_tune::codegen
