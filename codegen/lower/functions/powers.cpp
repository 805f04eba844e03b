// x^y = 2^(y log2 |x|), and what C has for zeros, infinities and negative x. The exponent reaches 1075, so the
// logarithm has to have some 12 bits more than the result: that of f32 is computed in f64, that of f64 in two words, of
// which the first has half the bits, so that products with it are exact (as in FreeBSD's msun, by Sun Microsystems).
#include <cmath>
#include <limits>

#include "codegen/lower/functions/exponentials.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/logarithms.h"
#include "codegen/lower/functions/powers.h"

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

// 2 / (3 ln 2) and ln 2: rounded, and in two parts of which the first has 26 bits.
constexpr double kFactor = 0x1.ec709dc3a03fdp-1, kFactorHigh = 0x1.ec709d8p-1, kFactorLow = 0x1.0e80ff5d27f05p-27;
constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2High = 0x1.62e42f8p-1, kLn2Low = 0x1.be8e7bcd5e4f2p-27;

// c^(-1/3) for c in [0.905, 1.125], within 2^-18; and of what a third of a number's bits is taken.
const std::vector<double> kInverseRoot{0x1.b9343p0, -0x1.47a3f4p0, 0x1.720616p-1, -0x1.549b62p-3};
constexpr double kSingleThird = 0x1.fe9b4a0000000p+23, kDoubleThird = 0x1.aa945f5180000p+52;

// 2^(y log2 x) for positive finite x and finite y of f32.
Expr single_power(Names& names, const Expr& x, const Expr& y) {
  const Halide::Type wide = Halide::Float(64);
  const Logarithmic parts = split(names, x);
  const Expr f = names(Halide::cast(wide, parts.f)), e = Halide::cast(wide, parts.e);
  const Expr logarithm = names(f * horner(f, kBinaryLogarithm) + e);
  const Expr exponent = clamped(names, names(strict::mul(Halide::cast(wide, y), logarithm)), -151, 129);
  const Rounded n = rounded(names, exponent);
  const Expr r = names(Halide::cast(x.type(), strict::sub(exponent, n.value)) * number(x, kLn2));
  const Expr shifted = bits_of(strict::add(Halide::cast(x.type(), n.value), number(x, 0x1.8p23 + 254)));
  const Expr power = names((exponential_tail(r) * r + number(r, 1)) * r + number(r, 1));
  return scaled(names, power, {names(shifted), r, {}, {}});
}

}  // namespace

Pair binary_logarithm(Names& names, const Expr& x) {
  using namespace strict;
  const auto [e, f, none] = split(names, x);
  const Expr two = number(x, 2), three = number(x, 3);
  // s = f / (2 + f) in two words.
  const Expr divisor = names(add(two, f)), inverse = names(div(number(x, 1), divisor));
  const Expr s = names(mul(f, inverse)), s_high = halves(names, s).high;
  const Expr divisor_high = halves(names, divisor).high, divisor_low = sub(f, sub(divisor_high, two));
  const Expr s_low = names(mul(inverse, sub(sub(f, mul(s_high, divisor_high)), mul(s_high, divisor_low))));
  // 3 + s^2 + s^4 P(s^2) in two.
  const Expr square = names(mul(s, s)), square_high = names(mul(s_high, s_high));
  const Expr rest =
      names(add(mul(names(mul(square, square)), estrin(names, square, kArea)), mul(s_low, add(s_high, s))));
  const Expr sum_high = halves(names, names(add(add(three, square_high), rest))).high;
  const Expr sum_low = sub(rest, sub(sub(sum_high, three), square_high));
  // Their product, times 2 / (3 ln 2).
  const Expr u = names(mul(s_high, sum_high)), v = names(add(mul(s_low, sum_high), mul(sum_low, s)));
  const Expr high = halves(names, names(add(u, v))).high, low = names(sub(v, sub(high, u)));
  const Expr z_high = names(mul(high, number(x, kFactorHigh)));
  const Expr z_low = names(add(mul(high, number(x, kFactorLow)), mul(low, number(x, kFactor))));
  const Expr first = halves(names, names(add(add(z_high, z_low), e))).high;
  return {first, names(sub(z_low, sub(sub(first, e), z_high)))};
}

namespace {

// 2^(y log2 x) for positive finite x and finite y of f64.
Expr double_power(Names& names, const Expr& x, const Expr& y) {
  using namespace strict;
  const Pair logarithm = binary_logarithm(names, x);
  // No logarithm but 0 is so small that more than 2^66 makes a difference.
  const Expr factor = clamped(names, y, -0x1p66, 0x1p66);
  const Pair parts = halves(names, factor);
  const Expr low_product = names(add(mul(parts.low, logarithm.high), mul(factor, logarithm.low)));
  const Expr high_product = names(mul(parts.high, logarithm.high));
  const Expr exponent = names(add(low_product, high_product));
  const Expr inside = clamped(names, exponent, -1077, 1025);
  const Expr is_inside = names(equal(inside, exponent));
  const Expr high = names(Halide::select(is_inside, high_product, inside));
  const Expr low = names(Halide::select(is_inside, low_product, number(x, 0)));
  const Expr to_integer = number(x, 0x1.8p52 + 2046), shifted = names(add(inside, to_integer));
  const Expr left = names(sub(high, sub(shifted, to_integer)));
  // The rest times ln 2, in two words.
  const Expr first = halves(names, names(add(left, low))).high;
  const Expr u = names(mul(first, number(x, kLn2High)));
  const Expr v = names(add(mul(sub(low, sub(first, left)), number(x, kLn2)), mul(first, number(x, kLn2Low))));
  const Expr r = names(add(u, v)), r_low = sub(v, sub(r, u));
  const Expr power = names(add(number(x, 1), add(r, names(r * r) * quick_exponential_tail(names, r) + r_low)));
  return scaled(names, power, {bits_of(shifted), r, {}, {}});
}

// What C has where x is 0 or infinite or y is infinite, and for negative x.
Expr with_limits(Names& names, const Expr& x, const Expr& y, const Expr& power) {
  const Expr zero = number(x, 0), one = number(x, 1), size = names(magnitude(x)), infinite = infinity(x);
  const Expr half = names(strict::mul(y, number(y, 0.5)));
  const Expr is_whole = names(strict::equal(Halide::trunc(y), y));
  const Expr is_odd = is_whole && !strict::equal(Halide::trunc(half), half);
  const Expr is_limit =
      strict::equal(size, zero) || strict::equal(size, infinite) || strict::equal(magnitude(y), infinite);
  const Expr grows = strict::less(one, size) == strict::less(zero, y);
  const Expr limit = Halide::select(strict::equal(size, one), one, Halide::select(grows, infinite, zero));
  const Expr result = names(Halide::select(is_limit, limit, power));
  const Expr is_negative = strict::less(x, zero) && strict::less(size, infinite);
  const Expr sign = Halide::select(is_odd, sign_bit(x), word(x, 0));
  const Expr is_nan = strict::is_nan(x) || strict::is_nan(y) || (is_negative && !is_whole);
  const Expr is_one = strict::equal(x, one) || strict::equal(y, zero);
  return Halide::select(is_one, one, Halide::select(is_nan, not_a_number(x), with_sign(result, sign)));
}

}  // namespace

Expr pow(const Expr& base, const Expr& exponent) {
  Names names;
  const Expr x = names(base), y = names(exponent), size = names(magnitude(x));
  // Any number where the limits hold: none of them is to meet arithmetic that takes for granted that it does not.
  const Expr usual = names(Halide::select(strict::less(size, infinity(x)), size, number(x, 1)));
  const Expr bounded = clamped(names, y, is_single(y) ? -0x1p126 : -0x1p1000, is_single(y) ? 0x1p126 : 0x1p1000);
  const Expr power = names(is_single(x) ? single_power(names, usual, bounded) : double_power(names, usual, bounded));
  return names.around(with_limits(names, x, y, power));
}

// z = x^(-1/3): a third of the bits of x, as an integer, taken from a constant is z within 4 %; c = x z^3 tells how far
// it is, and c^(-1/3) by a polynomial mends it (f64: and one step of third order). y = x z^2, and a step of Newton's.
Expr cbrt(const Expr& argument) {
  Names names;
  const Expr x = names(argument), size = names(magnitude(x));
  // Subnormal numbers are scaled by 2^24, or 2^54, a power of 8.
  const int more = is_single(x) ? 24 : 54, dropped = is_single(x) ? 8 : 12;
  const Expr is_subnormal = names(strict::less(size, number(x, is_single(x) ? 0x1p-126 : 0x1p-1022)));
  const Expr a = names(Halide::select(is_subnormal, strict::mul(size, number(x, std::ldexp(1.0, more))), size));
  // The upper bits stand at the end of a float of 2^23 (f64: 2^52) and more, and the difference, of the same size, too.
  const Expr integers = bits_of(number(x, is_single(x) ? 0x1p23 : 0x1p52)), digits = word(x, dropped);
  const Expr upper = float_of((bits_of(a) >> digits) | integers);
  const Expr difference = number(x, is_single(x) ? kSingleThird : kDoubleThird) - upper * number(x, 1.0 / 3);
  Expr z = names(float_of(bits_of(difference) << digits));
  const auto cube = [&] { return names(strict::mul(strict::mul(strict::mul(a, z), z), z)); };
  z = names(z * horner(cube(), kInverseRoot));
  if (!is_single(x)) {
    const Expr h = names(number(x, 1) - cube());
    z = names(z + z * (h * (number(x, 1.0 / 3) + h * number(x, 2.0 / 9))));
  }
  const Expr square = names(z * z), y = names(strict::mul(a, square));
  // By halves: y^3 may be beyond the type.
  const Expr half = number(x, 0.5), rest = strict::mul(a, half) - y * y * strict::mul(y, half);
  const Expr root = y + rest * (square * number(x, 2.0 / 3));
  const Expr unscaled = Halide::select(is_subnormal, number(x, std::ldexp(1.0, -more / 3)), number(x, 1));
  const Expr result = with_sign(strict::mul(root, unscaled), sign_bit(x));
  const Expr is_usual = is_within(size, is_single(x) ? 0x1p-149 : 0x1p-1074, std::numeric_limits<double>::infinity());
  return names.around(Halide::select(is_usual, result, x));
}

Expr rsqrt(const Expr& x) { return strict::div(number(x, 1), Halide::sqrt(x)); }

}  // namespace tile_tune::codegen::functions
