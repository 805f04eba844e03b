// x^y = 2^(y log2 |x|), and what C has for zeros, infinities and negative x. The exponent reaches 1075, so the
// logarithm has to have some 12 bits more than the result: that of f32 is computed in f64, that of f64 in two words (as
// in FreeBSD's msun, by Sun Microsystems).
#include <cmath>

#include "codegen/lower/functions/exponentials.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/logarithms.h"
#include "codegen/lower/functions/powers.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// log2(1 + f) / f, within 2^-35.
const std::vector<double> kBinaryLogarithm{
    0x1.71547652a0f64p0,   -0x1.7154765672d04p-1, 0x1.ec709ec49a1ap-2,   -0x1.715470818a467p-2, 0x1.27764e94456bp-2,
    -0x1.ec72b705e370ep-3, 0x1.a64029265d467p-3,  -0x1.714256e3c988fp-3, 0x1.451d2abe8b55dp-3,  -0x1.2518b3eb8b93cp-3,
    0x1.28a254d9d2523p-3,  -0x1.2519e1babf0e3p-3, 0x1.3d8d8deaeb8cdp-4};

// P, where 3 atanh(s) / s = 3 + s^2 + s^4 P(s^2), within 2^-70.
const std::vector<double> kArea{0x1.3333333333333p-1, 0x1.b6db6db6db971p-2, 0x1.5555555507c58p-2, 0x1.1745d1b5722dep-2,
                                0x1.d89d501f03af5p-3, 0x1.99a8111ba093p-3,  0x1.675bcafb2eb68p-3, 0x1.6a78c22eea929p-3};

// 2 / (3 ln 2) in two words.
constexpr double kFactor = 0x1.ec709dc3a03fdp-1, kFactorLow = 0x1.d27f05548af0cp-55;

// Of (c^(-2/3) - 1) / (1 - c) for c in [0.9, 1.125], within 0.05 ulp of f32; c^(-1/3), within 2^-18; and of what a
// third of a number's bits is taken.
const std::vector<double> kSquaredRoot{0x1.555556p-1, 0x1.1c71aep-1, 0x1.f9a696p-2,
                                       0x1.cfd8cap-2, 0x1.b7205ap-2, 0x1.8362bep-2};
const std::vector<double> kInverseRoot{0x1.b9343p0, -0x1.47a3f4p0, 0x1.720616p-1, -0x1.549b62p-3};
constexpr double kSingleThird = 0x1.528beap30, kDoubleThird = 0x1.aa945f5180000p+52;

// y log2 x, of f32 in f64 and of f64 in two words.
Expr single_exponent(Names& names, const Logarithmic& x, const Expr& y) {
  const Halide::Type wide = Halide::Float(64).with_lanes(y.type().lanes());
  const Expr f = names(Halide::cast(wide, x.f)), e = Halide::cast(wide, x.e);
  return names(strict::mul(Halide::cast(wide, y), names(f * polynomial(names, f, kBinaryLogarithm) + e)));
}

Pair logarithm_of(Names& names, const Logarithmic& x) {
  using namespace strict;
  const auto& [e, f, none] = x;
  const Expr two = number(f, 2), three = number(f, 3);
  // s = f / (2 + f) in two words.
  const Expr divisor = names(add(two, f)), lost = sub(f, sub(divisor, two));
  const Expr inverse = names(div(number(f, 1), divisor)), s = names(mul(f, inverse));
  const Pair back = two_product(names, s, divisor);
  const Expr s_low = names(mul(inverse, sub(sub(sub(f, back.high), back.low), mul(s, lost))));
  // 3 + s^2 + s^4 P(s^2) in two.
  const Pair square = two_product(names, s, s);
  const Expr fourth = names(square.high * square.high);
  const Expr rest = names(fourth * estrin(names, square.high, kArea) + add(square.low, mul(add(s, s), s_low)));
  const Expr sum = names(add(three, add(square.high, rest)));
  const Expr sum_low = names(add(sub(square.high, sub(sum, three)), rest));
  // Their product, times 2 / (3 ln 2).
  const Pair product = two_product(names, s, sum);
  const Expr product_low = names(add(product.low, add(mul(s_low, sum), mul(s, sum_low))));
  const Pair scaled = two_product(names, product.high, number(f, kFactor));
  const Expr scaled_low =
      add(scaled.low, add(mul(product.high, number(f, kFactorLow)), mul(product_low, number(f, kFactor))));
  const Pair whole = fast_two_sum(names, e, scaled.high);
  return {whole.high, names(add(whole.low, scaled_low))};
}

Pair double_exponent(Names& names, const Logarithmic& x, const Expr& y) {
  const Pair logarithm = logarithm_of(names, x), product = two_product(names, y, logarithm.high);
  return {product.high, names(y * logarithm.low + product.low)};
}

// 2^exponent = 2^n * `power`; `shifted` has n + 2 * bias or n in its last bits.
struct Power {
  Expr shifted, power;
};
Power power_of(Names& names, const Pair& exponent, const Halide::Type& type, bool is_biased) {
  const Expr& high = exponent.high;
  const double bias = !is_biased ? 0 : type.bits() == 32 ? 254 : 2046;
  const Expr to_integer = number(high, 0x1.8p52 + bias), shifted = names(strict::add(high, to_integer));
  const Expr left = strict::sub(high, strict::sub(shifted, to_integer));
  const Expr rest = names(exponent.low.defined() ? strict::add(left, exponent.low) : Halide::cast(type, left));
  return {Halide::cast(type.with_code(halide_type_uint), bits_of(shifted)), power_of_rest(names, Base::Two, rest)};
}

// What C has of negative x that is a number.
Expr of_negative(Names& names, const Expr& x, const Expr& y, const Expr& power) {
  const Expr half = names(strict::mul(y, number(y, 0.5)));
  const Expr is_whole = strict::equal(Halide::trunc(y), y);
  const Expr is_even = strict::equal(Halide::trunc(half), half);
  const Expr signed_power = with_sign(power, Halide::select(is_even, word(x, 0), word(x, sign_mask(x))));
  return Halide::select(is_whole, signed_power, not_a_number(x));
}

}  // namespace

Pair binary_logarithm(Names& names, const Expr& x) { return logarithm_of(names, split(names, x)); }

Expr pow(const Expr& base, const Expr& exponent) {
  Names names;
  const Expr x = names(base), y = names(exponent), size = names(magnitude(x));
  const Logarithmic parts = split(names, size);
  const Pair power_by =
      is_single(x) ? Pair{single_exponent(names, parts, y), Expr()} : double_exponent(names, parts, y);
  const Power power = power_of(names, power_by, x.type(), false);
  const Expr scaled = names(scaled_normal(power.power, {power.shifted, power.power, {}, {}}));
  // NaN, too, is not within: that of a product beyond the type, or of its error.
  const Expr sum = is_single(x) ? Halide::cast(x.type(), power_by.high) : strict::add(power_by.high, power_by.low);
  const Expr is_small = strict::less(magnitude(sum), number(x, is_single(x) ? 125 : 1021));
  const Expr with_sign = usually(scaled, sign_bit(x) != word(x, 0), "pow_negative", {x, y, scaled});
  return names.around(usually(with_sign, !(is_positive_normal(size) && is_small), "pow", {x, y}));
}

Expr rare_pow_negative(const std::vector<Expr>& arguments) {
  Names names;
  const Expr &x = arguments[0], negative = of_negative(names, x, arguments[1], arguments[2]);
  return names.around(Halide::select(sign_bit(x) != word(x, 0), negative, arguments[2]));
}

namespace {

// 2^(y log2 x) for positive finite x and finite y.
Expr power_within(Names& names, const Expr& x, const Expr& y) {
  const Logarithmic parts = split_any(names, x);
  if (is_single(x)) {
    const Expr exponent = clamped(names, single_exponent(names, parts, y), -151, 129);
    const Power power = power_of(names, {exponent, Expr()}, x.type(), true);
    return scaled(names, power.power, {names(power.shifted), power.power, {}, {}});
  }
  // No logarithm but 0 is so small that more than 2^66 makes a difference.
  const Pair exponent = double_exponent(names, parts, clamped(names, y, -0x1p66, 0x1p66));
  const Expr inside = clamped(names, exponent.high, -1077, 1025);
  const Expr low = names(Halide::select(strict::equal(inside, exponent.high), exponent.low, number(x, 0)));
  const Power power = power_of(names, {inside, low}, x.type(), true);
  return scaled(names, power.power, {names(power.shifted), power.power, {}, {}});
}

// What C has where x is 0 or infinite or y is infinite, and for negative x.
Expr with_limits(Names& names, const Expr& x, const Expr& y, const Expr& power) {
  const Expr zero = number(x, 0), one = number(x, 1), size = names(magnitude(x)), infinite = infinity(x);
  const Expr is_limit =
      strict::equal(size, zero) || strict::equal(size, infinite) || strict::equal(magnitude(y), infinite);
  const Expr grows = strict::less(one, size) == strict::less(zero, y);
  const Expr limit = Halide::select(strict::equal(size, one), one, Halide::select(grows, infinite, zero));
  const Expr result = names(Halide::select(is_limit, limit, power));
  // Of a negative number that is infinite or 0 the power is a number, too.
  const Expr negative = of_negative(names, x, y, result);
  const Expr is_whole = strict::equal(Halide::trunc(y), y);
  const Expr is_end = strict::equal(size, zero) || strict::equal(size, infinite);
  const Expr of_sign = Halide::select(sign_bit(x) == word(x, 0) || (is_end && !is_whole), result, negative);
  const Expr is_one = strict::equal(x, one) || strict::equal(y, zero);
  const Expr is_nan = strict::is_nan(x) || strict::is_nan(y);
  return Halide::select(is_one, one, Halide::select(is_nan, not_a_number(x), of_sign));
}

}  // namespace

Expr rare_pow(const std::vector<Expr>& arguments) {
  Names names;
  const Expr x = names(arguments[0]), y = names(arguments[1]), size = names(magnitude(x));
  // Any number where the limits hold: none of them is to meet arithmetic that takes for granted that it does not.
  const Expr usual = names(Halide::select(strict::less(size, infinity(x)), size, number(x, 1)));
  const Expr bounded = clamped(names, y, is_single(y) ? -0x1p126 : -0x1p1000, is_single(y) ? 0x1p126 : 0x1p1000);
  const Expr power = names(power_within(names, usual, bounded));
  return names.around(with_limits(names, x, y, power));
}

namespace {

// z = x^(-1/3): a third of the bits of x, as an integer, taken from a constant is z within 4 %; c = x z^3 tells how far
// it is. f32: x^(1/3) = x z^2 c^(-2/3), the last by a polynomial; f64: c^(-1/3) by one mends z first.
Expr cube_root(Names& names, const Expr& a) {
  const auto third_of_bits = [&] {
    if (is_single(a)) {
      const Halide::Type integer = a.type().with_code(halide_type_int);
      const Expr bits = Halide::cast(a.type(), Halide::reinterpret(integer, a));
      return names(float_of(Halide::reinterpret(
          bits_of(a).type(), Halide::cast(integer, number(a, kSingleThird) - bits * number(a, 1.0 / 3)))));
    }
    // The upper bits stand at the end of a float of 2^52 and more, and the difference, of the same size, too.
    const Expr upper = float_of((bits_of(a) >> word(a, 12)) | bits_of(number(a, 0x1p52)));
    return names(float_of(bits_of(number(a, kDoubleThird) - upper * number(a, 1.0 / 3)) << word(a, 12)));
  };
  Expr z = third_of_bits();
  const Expr one = number(a, 1);
  if (!is_single(a)) z = names(z * horner(names(strict::mul(strict::mul(strict::mul(a, z), z), z)), kInverseRoot));
  const Expr y = names(strict::mul(a, strict::mul(z, z))), h = names(one - y * z);
  if (is_single(a)) return y + names(strict::mul(y, h)) * polynomial(names, h, kSquaredRoot);
  return y + names(strict::mul(y, h)) * horner(h, {2.0 / 3, 5.0 / 9, 40.0 / 81});
}

}  // namespace

Expr cbrt(const Expr& argument) {
  Names names;
  const Expr x = names(argument), size = names(magnitude(x));
  const Expr root = with_sign(cube_root(names, size), sign_bit(x));
  return names.around(usually(root, !is_positive_normal(size), "cbrt", {x}));
}

// Subnormal numbers are scaled by 2^24, or 2^54, a power of 8.
Expr rare_cbrt(const std::vector<Expr>& arguments) {
  Names names;
  const Expr x = names(arguments[0]), size = names(magnitude(x));
  const int more = is_single(x) ? 24 : 54;
  const Expr root = cube_root(names, names(strict::mul(size, number(x, std::ldexp(1.0, more)))));
  const Expr result = with_sign(strict::mul(root, number(x, std::ldexp(1.0, -more / 3))), sign_bit(x));
  const Expr is_subnormal = is_within(size, is_single(x) ? 0x1p-149 : 0x1p-1074, is_single(x) ? 0x1p-126 : 0x1p-1022);
  return names.around(Halide::select(is_subnormal, result, x));
}

namespace {

// For an approximate y, and x y: y - y (h / 2 - 3 h^2 / 8) with h = x y^2 - 1, three times as many bits of x^(-1/2).
Expr with_more_bits(Names& names, const Expr& root, const Expr& y) {
  const Expr h = names(product_error(root, y, number(y, 1)));
  return names(fma(names(strict::mul(y, h)), names(fma(h, number(h, 0.375), number(h, -0.5))), y));
}

}  // namespace

Expr rsqrt(const Expr& argument) {
  Names names;
  const Expr x = names(argument), exact = strict::div(number(x, 1), square_root(x));
  const Halide::Type single = x.type().with_bits(32);
  const Expr start = names(Halide::cast(x.type(), approximate_inverse_root(Halide::cast(single, x))));
  const Expr root = names(strict::mul(x, start)), quick = with_more_bits(names, root, start);
  // Of zero and subnormal numbers the approximation is infinite, of infinity 0 and of negative numbers NaN.
  if (is_single(x))
    return names.around(where_approximate(usually(quick, !strict::less(root, infinity(x)), "rsqrt", {x}), exact));
  const Expr result = with_more_bits(names, names(strict::mul(x, quick)), quick);
  return names.around(where_approximate(usually(result, !is_within(x, 0x1p-126, 0x1p127), "rsqrt", {x}), exact));
}

Expr rare_rsqrt(const std::vector<Expr>& arguments) {
  return strict::div(number(arguments[0], 1), square_root(arguments[0]));
}

}  // namespace tile_tune::codegen::functions
