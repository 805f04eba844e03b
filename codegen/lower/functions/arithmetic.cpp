#include "codegen/lower/functions/arithmetic.h"

#include <bit>
#include <cmath>
#include <limits>

#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {

using Halide::Expr;
using Halide::Internal::Call;

Expr Names::operator()(const Expr& value) {
  if (value.as<Halide::Internal::Variable>() || Halide::Internal::is_const(value)) return value;
  names_.push_back({prefix_ + "_" + std::to_string(names_.size()), value});
  return Halide::Internal::Variable::make(value.type(), names_.back().first);
}

Expr Names::around(Expr result) const {
  for (auto name = names_.rbegin(); name != names_.rend(); ++name)
    result = Halide::Internal::Let::make(name->first, name->second, result);
  return result;
}

Expr number(const Expr& like, double value) { return Halide::Internal::make_const(like.type(), value); }
Expr infinity(const Expr& like) { return number(like, std::numeric_limits<double>::infinity()); }
Expr not_a_number(const Expr& like) { return number(like, std::numeric_limits<double>::quiet_NaN()); }

namespace strict {
namespace {

Expr operation(Call::IntrinsicOp op, const Halide::Type& type, const Expr& a, const Expr& b) {
  return Call::make(type, op, {a, b}, Call::PureIntrinsic);
}

Expr comparison(Call::IntrinsicOp op, const Expr& a, const Expr& b) {
  return operation(op, Halide::Bool(a.type().lanes()), a, b);
}

}  // namespace

Expr add(const Expr& a, const Expr& b) { return operation(Call::strict_add, a.type(), a, b); }
Expr sub(const Expr& a, const Expr& b) { return operation(Call::strict_sub, a.type(), a, b); }
Expr mul(const Expr& a, const Expr& b) { return operation(Call::strict_mul, a.type(), a, b); }
Expr div(const Expr& a, const Expr& b) { return operation(Call::strict_div, a.type(), a, b); }
Expr less(const Expr& a, const Expr& b) { return comparison(Call::strict_lt, a, b); }
Expr at_most(const Expr& a, const Expr& b) { return comparison(Call::strict_le, a, b); }
Expr equal(const Expr& a, const Expr& b) { return comparison(Call::strict_eq, a, b); }
Expr is_nan(const Expr& x) { return Halide::is_nan(x); }

}  // namespace strict

Expr bits_of(const Expr& x) { return Halide::reinterpret(x.type().with_code(halide_type_uint), x); }
Expr float_of(const Expr& bits) { return Halide::reinterpret(bits.type().with_code(halide_type_float), bits); }

Expr word(const Expr& like, uint64_t bits) {
  const uint64_t mask = like.type().bits() == 32 ? 0xffffffff : ~uint64_t{0};
  return Halide::Internal::make_const(like.type().with_code(halide_type_uint), bits & mask);
}

uint64_t sign_mask(const Expr& x) { return uint64_t{1} << (x.type().bits() - 1); }
Expr sign_bit(const Expr& x) { return bits_of(x) & word(x, sign_mask(x)); }
Expr magnitude(const Expr& x) { return float_of(bits_of(x) & word(x, sign_mask(x) - 1)); }
Expr with_sign(const Expr& x, const Expr& sign_bits) { return float_of(bits_of(x) ^ sign_bits); }

Expr is_within(const Expr& x, double least, double most) {
  const auto bits = [&](double value) {
    return is_single(x) ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value);
  };
  // As signed words, which every CPU compares.
  const auto as_signed = [&](const Expr& value) {
    return Halide::reinterpret(value.type().with_code(halide_type_int), value);
  };
  const uint64_t half = sign_mask(x);
  return as_signed(bits_of(x) + word(x, half - bits(least))) < as_signed(word(x, half + bits(most) - bits(least)));
}

Expr is_positive_normal(const Expr& x) {
  return is_within(x, is_single(x) ? 0x1p-126 : 0x1p-1022, std::numeric_limits<double>::infinity());
}

Expr widened(Names& names, const Expr& x) {
  const Halide::Type wide = x.type().with_bits(64);
  const Expr is_finite = names(strict::less(magnitude(x), infinity(x)));
  const Expr finite = names(Halide::cast(wide, Halide::select(is_finite, x, number(x, 0))));
  const Expr infinite = Halide::select(strict::less(x, number(x, 0)), number(finite, -HUGE_VAL), infinity(finite));
  return names(Halide::select(is_finite, finite, strict::is_nan(x), not_a_number(finite), infinite));
}

Expr narrowed(Names& names, const Expr& x) {
  // 2^128 - 2^103 and more round to infinity.
  const Expr is_within = names(strict::less(magnitude(x), number(x, 0x1.ffffffp127)));
  const Expr within = Halide::cast(x.type().with_bits(32), Halide::select(is_within, x, number(x, 0)));
  const Expr infinite = Halide::select(strict::less(x, number(x, 0)), number(within, -HUGE_VAL), infinity(within));
  return Halide::select(is_within, within, strict::is_nan(x), not_a_number(within), infinite);
}

Expr where_fused(const Expr& fused, const Expr& portable) {
  return Call::make(fused.type(), kWhereFused, {fused, portable}, Call::PureExtern);
}

Expr multiply_add(const Expr& a, const Expr& b, const Expr& c) {
  return where_fused(fma(a, b, c), strict::add(strict::mul(a, b), c));
}

Expr square_root(const Expr& x) {
  return Call::make(x.type(), is_single(x) ? "sqrt_f32" : "sqrt_f64", {x}, Call::PureExtern);
}

Expr approximate_inverse_root(const Expr& x) {
  return Call::make(x.type(), kApproximateInverseRoot, {x}, Call::PureExtern);
}

Expr where_approximate(const Expr& approximate, const Expr& exact) {
  return Call::make(exact.type(), kWhereApproximate, {approximate, exact}, Call::PureExtern);
}

Expr horner(const Expr& x, const std::vector<double>& coefficients) {
  Expr sum = number(x, coefficients.back());
  for (size_t k = coefficients.size() - 1; k-- > 0;) sum = sum * x + number(x, coefficients[k]);
  return sum;
}

Expr estrin(Names& names, const Expr& x, const std::vector<double>& coefficients) {
  std::vector<Expr> terms;
  for (const double coefficient : coefficients) terms.push_back(number(x, coefficient));
  Expr power = x;
  while (terms.size() > 1) {
    // As short a chain as with one more power.
    if (terms.size() == 3) return (terms[2] * power + terms[1]) * power + terms[0];
    std::vector<Expr> sums;
    for (size_t k = 0; k + 1 < terms.size(); k += 2) sums.push_back(names(terms[k + 1] * power + terms[k]));
    if (terms.size() % 2 == 1) sums.push_back(terms.back());
    terms = std::move(sums);
    if (terms.size() > 1) power = names(power * power);
  }
  return terms[0];
}

Expr even_and_odd(const Expr& x, const Expr& square, const std::vector<double>& coefficients) {
  std::vector<double> halves[2];
  for (size_t k = 0; k < coefficients.size(); ++k) halves[k % 2].push_back(coefficients[k]);
  return horner(square, halves[1]) * x + horner(square, halves[0]);
}

Expr polynomial(Names& names, const Expr& x, const std::vector<double>& coefficients) {
  constexpr size_t kMostInChain = 5, kMostOfLargeFirst = 11;
  if (coefficients.size() <= kMostInChain) return horner(x, coefficients);
  if (coefficients.size() > kMostOfLargeFirst) return estrin(names, x, coefficients);
  // The first one added last, lest its sum be rounded twice; of many it is no larger than the others.
  return estrin(names, x, {coefficients.begin() + 1, coefficients.end()}) * x + number(x, coefficients[0]);
}

Pair two_sum(Names& names, const Expr& a, const Expr& b) {
  const Expr sum = names(strict::add(a, b));
  const Expr b_rounded = names(strict::sub(sum, a));
  const Expr a_rounded = strict::sub(sum, b_rounded);
  return {sum, names(strict::add(strict::sub(a, a_rounded), strict::sub(b, b_rounded)))};
}

Pair fast_two_sum(Names& names, const Expr& a, const Expr& b) {
  const Expr sum = names(strict::add(a, b));
  return {sum, names(strict::sub(b, strict::sub(sum, a)))};
}

Pair halves(Names& names, const Expr& x) {
  const uint64_t rest = is_single(x) ? (uint64_t{1} << 12) - 1 : (uint64_t{1} << 27) - 1;
  const Expr high = names(float_of(bits_of(x) & word(x, ~rest & (is_single(x) ? 0xffffffff : ~uint64_t{0}))));
  return {high, names(strict::sub(x, high))};
}

Expr product_error(const Expr& a, const Expr& b, const Expr& product) {
  return Call::make(a.type(), kProductError, {a, b, product}, Call::PureExtern);
}

Pair two_product(Names& names, const Expr& a, const Expr& b) {
  const Expr product = names(strict::mul(a, b));
  return {product, names(product_error(a, b, product))};
}

Pair add(Names& names, const Pair& a, const Expr& b) {
  const Pair sum = fast_two_sum(names, a.high, b);
  return fast_two_sum(names, sum.high, strict::add(sum.low, a.low));
}

Pair add(Names& names, const Pair& a, const Pair& b) {
  const Pair sum = fast_two_sum(names, a.high, b.high);
  return fast_two_sum(names, sum.high, strict::add(sum.low, strict::add(a.low, b.low)));
}

Pair multiply(Names& names, const Pair& a, const Expr& b) {
  const Pair product = two_product(names, a.high, b);
  return fast_two_sum(names, product.high, strict::add(product.low, strict::mul(a.low, b)));
}

Pair multiply(Names& names, const Pair& a, const Pair& b) {
  const Pair product = two_product(names, a.high, b.high);
  const Expr cross = strict::add(strict::mul(a.high, b.low), strict::mul(a.low, b.high));
  return fast_two_sum(names, product.high, strict::add(product.low, cross));
}

}  // namespace tile_tune::codegen::functions
