// tgamma and lgamma, of f32 in f64: Stirling's series from 10 on, and for smaller numbers by gamma(a) =
// gamma(a + 10) / (a (a + 1) ... (a + 9)); for negative ones by gamma(-a) gamma(a) = -pi / (a sin(pi a)). The exponent
// of gamma(a) = 2^e reaches 1024, so it is a number of two words.
#include "codegen/lower/functions/exponentials.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/logarithms.h"
#include "codegen/lower/functions/powers.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"
#include "codegen/lower/functions/trigonometric.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;
using strict::div, strict::equal, strict::less, strict::mul, strict::sub;

constexpr int kShift = 10;

// Stirling's series, in 1 / a^2: B_2k / (2k (2k - 1)). Seven terms are within 2^-55 from 10 on.
const std::vector<double> kStirling{0x1.5555555555555p-4,   -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11,
                                    -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10,
                                    0x1.a41a41a41a41ap-8};
constexpr double kLog2OfE = 0x1.71547652b82fep0, kLog2OfELow = 0x1.777d0ffda0d24p-56;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLog2OfRootOf2Pi = 0x1.536439a4c6efcp0;
// ln(2 pi) / 2 - 1/2.
constexpr double kHalfLnOf2PiLessHalf = 0x1.acfe390c97d69p-2;

Expr stirling(Names& name, const Expr& a, size_t terms = kStirling.size()) {
  const Expr inverse = name(div(number(a, 1), a));
  return name(inverse * horner(name(inverse * inverse), {kStirling.begin(), kStirling.begin() + terms}));
}

// log2 gamma(a + left) for a from 10 to 200; left is what the sum of a small number and 10 has lost.
Pair binary_exponent(Names& name, const Expr& a, const Expr& left) {
  const Pair logarithm = binary_logarithm(name, a);
  const Pair first = multiply(name, logarithm, name(sub(a, number(a, 0.5))));
  const Pair second = multiply(name, {number(a, -kLog2OfE), number(a, -kLog2OfELow)}, a);
  // The derivative of ln gamma is ln a - 1 / 2a - 1 / 12a^2.
  const Expr inverse = name(div(number(a, 1), a));
  const Expr slope = logarithm.high * number(a, kLn2) - inverse * (inverse * number(a, 1.0 / 12) + number(a, 0.5));
  const Expr rest = (stirling(name, a) + left * slope) * number(a, kLog2OfE) + number(a, kLog2OfRootOf2Pi);
  return functions::add(name, functions::add(name, first, second), name(rest));
}

// (a + 1) (a + 2) ... (a + 9)
Pair shift_product(Names& name, const Expr& a) {
  Pair product = two_sum(name, number(a, kShift - 1), a);
  for (int k = kShift - 2; k > 0; --k) product = multiply(name, product, two_sum(name, number(a, k), a));
  return product;
}

// sin(pi a) for a >= 0, and whether a is an integer.
struct SineOfPi {
  Pair value;
  Expr is_zero;
};
SineOfPi sine_of_pi_times(Names& name, const Expr& a) {
  const Expr whole = name(Halide::floor(a)), one = number(a, 1);
  const Expr n = name(Halide::select(less(number(a, 0.5), sub(a, whole)), strict::add(whole, one), whole));
  const Expr t = name(sub(a, n)), half = name(mul(n, number(a, 0.5)));
  const Pair r = multiply(name, {number(a, 0x1.921fb54442d18p1), number(a, 0x1.1a62633145c07p-53)}, t);
  const Expr sign = name(Halide::select(equal(Halide::floor(half), half), word(a, 0), word(a, uint64_t{1} << 63)));
  const Pair sine = sine_of(name, r);
  return {{name(with_sign(sine.high, sign)), name(with_sign(sine.low, sign))}, name(equal(t, number(a, 0)))};
}

struct Argument {
  Expr x, size, is_negative, is_tiny;
  SineOfPi sine;
};
Argument argument_of(Names& name, const Expr& given) {
  const Expr x = name(given), size = name(magnitude(x));
  return {x, size, name(less(x, number(x, 0))), name(less(size, number(x, 0x1p-54))), sine_of_pi_times(name, size)};
}

Pair choose(Names& name, const Expr& condition, const Pair& a, const Pair& b) {
  return {name(Halide::select(condition, a.high, b.high)), name(Halide::select(condition, a.low, b.low))};
}

// What 2^e is multiplied with: 1, 1 / (a (a + 1) ... (a + 9)), or pi times the inverse of that over sin(pi a).
Pair factor_of(Names& name, const Argument& of, const Expr& is_small, const Expr& small) {
  const Expr &x = of.x, zero = number(x, 0), one = number(x, 1);
  const Pair unit{one, zero}, pi{number(x, 0x1.921fb54442d18p1), number(x, 0x1.1a62633145c07p-53)};
  const Pair product = choose(name, is_small, shift_product(name, small), unit);
  const Pair above = choose(name, of.is_negative, multiply(name, pi, product), unit);
  const Expr beside = name(Halide::select(is_small != of.is_negative, of.size, one));
  const Pair below = multiply(name, choose(name, of.is_negative, of.sine.value, product), beside);
  const Expr quotient = name(div(above.high, below.high));
  const Pair back = multiply(name, below, quotient);
  return {quotient, name(div(sub(sub(above.high, back.high), sub(back.low, above.low)), below.high))};
}

// gamma of a number that is neither tiny nor an integer below 0 nor infinite.
Expr usual_gamma(Names& name, const Argument& of) {
  const Expr &x = of.x, one = number(x, 1);
  const Expr is_small = name(less(of.size, number(x, kShift)));
  const Expr small = name(Halide::select(is_small, of.size, one));
  const Expr most = Halide::select(less(of.size, number(x, 200)), of.size, number(x, 200));
  const Pair shifted_up = two_sum(name, number(x, kShift), small);
  const Expr left = name(Halide::select(is_small, shifted_up.low, number(x, 0)));
  const Pair e = binary_exponent(name, name(Halide::select(is_small, shifted_up.high, most)), left);
  const Expr flip = name(Halide::select(of.is_negative, word(x, uint64_t{1} << 63), word(x, 0)));
  const Expr high = name(with_sign(e.high, flip)), low = with_sign(e.low, flip);

  const Expr to_integer = number(x, 0x1.8p52 + 2046), shifted = name(strict::add(high, to_integer));
  const Expr rest = strict::add(sub(high, sub(shifted, to_integer)), low);
  const Expr r = name(mul(rest, number(x, kLn2)));
  const Expr power = name(strict::add(one, strict::add(r, mul(mul(r, r), exponential_tail(name, r)))));
  const Pair factor = factor_of(name, of, is_small, small);
  const Expr whole = name(strict::add(mul(power, factor.high), mul(power, factor.low)));
  return with_sign(scaled(name, whole, {bits_of(shifted), r, {}, {}}), flip);
}

Expr gamma_of_double(const Expr& given) {
  Names name;
  const Argument of = argument_of(name, given);
  const Expr finite = Halide::select(of.is_tiny, div(number(of.x, 1), of.x), usual_gamma(name, of));
  const Expr is_pole = of.is_negative && (of.sine.is_zero || !less(of.size, infinity(of.x)));
  return name.around(Halide::select(is_pole && !of.is_tiny, not_a_number(of.x), strict::is_nan(of.x), of.x, finite));
}

// R, where ln gamma(1 + z) = z (z - 1) (1/2 + R(z)) for z from 0 to 1, as a quotient of two polynomials (within 2^-30
// and 2^-56), and how much of Stirling's series counts.
struct LogGammaForm {
  std::vector<double> numerator, denominator;
  size_t stirling;
};
const LogGammaForm kLogGammaSingle{
    {0x1.3a8f8371502b7p+0, -0x1.055f7472f5e43p+1, -0x1.5520e914c436fp+1, -0x1.d723b0debc6efp-2},
    {0x1.fd395cb37e031p+3, 0x1.8192d75835c89p+4, 0x1.3fca25868d6e4p+3, 1},
    2};
const LogGammaForm kLogGammaDouble{
    {0x1.e0b83af436f82p+5, -0x1.058aa0ec59108p+4, -0x1.e31f8387ef0e4p+7, -0x1.f04eadeb2d61p+7, -0x1.748f9c2568b0ap+6,
     -0x1.a1b31f5dada6bp+3, -0x1.f21e979dbc88ep-2},
    {0x1.851acd983ab25p+9, 0x1.1a8150971399ap+11, 0x1.366c50b731c8bp+11, 0x1.413e5d9a37e35p+10, 0x1.3caf65a059cc5p+8,
     0x1.07993f28d2f83p+5, 1},
    7};

// ln gamma of a > 0 by one logarithm: from 10 on (a - 1/2) (ln a - 1) + ln(2 pi) / 2 - 1/2 and Stirling's series; below
// ln((a - 1) (a - 2) ... (1 + z)) + ln gamma(1 + z), or ln gamma(1 + z) - ln z.
Expr log_gamma_of_positive(Names& name, const Expr& a, Logarithmic (*split)(Names&, const Expr&),
                           const LogGammaForm& form) {
  const Expr one = number(a, 1), zero = word(a, 0), is_large = name(!less(a, number(a, 10)));
  const Expr is_below = name(less(a, one)), z = name(sub(a, Halide::floor(a)));
  Expr product = one;
  for (int k = 1; k < 9; ++k) {
    const Expr factor = name(sub(a, number(a, k)));
    product = name(mul(product, Halide::select(less(one, factor), factor, one)));
  }
  const Expr log = name(logarithm(name, split(name, name(Halide::select(is_large || is_below, a, product)))));
  const Expr quotient = strict::add(number(a, 0.5), div(horner(z, form.numerator), horner(z, form.denominator)));
  const Expr near = mul(z, mul(sub(z, one), quotient));
  const Expr small = strict::add(with_sign(log, Halide::select(is_below, word(a, sign_mask(a)), zero)), near);
  const Expr rest = strict::add(number(a, kHalfLnOf2PiLessHalf), stirling(name, a, form.stirling));
  const Expr large = strict::add(mul(sub(a, number(a, 0.5)), sub(log, one)), rest);
  return name(Halide::select(is_large, large, small));
}

Expr log_gamma_of_double(const Expr& given) {
  Names name;
  const Argument of = argument_of(name, given);
  const Expr &x = of.x, one = number(x, 1);
  const Expr is_reflected = name(of.is_negative && !of.is_tiny);
  const Expr is_zero = equal(x, number(x, 0));
  const Expr is_special = name(!less(of.size, infinity(x)) || is_zero || (is_reflected && of.sine.is_zero));
  const Expr size = name(Halide::select(is_special, one, of.size));
  const Expr positive = log_gamma_of_positive(name, size, split_any, kLogGammaDouble);
  const Expr product = mul(mul(size, magnitude(of.sine.value.high)), number(x, 0x1.45f306dc9c883p-2));
  const Expr reflected =
      logarithm(name, split_any(name, name(Halide::select(is_reflected && !is_special, product, one))));
  const Expr negative = sub(sub(number(x, 0), reflected), positive);
  return name.around(Halide::select(strict::is_nan(x), x, is_special, infinity(x), is_reflected, negative, positive));
}

Expr in_double(const Expr& x, Expr (*function)(const Expr&)) {
  if (!is_single(x)) return function(x);
  Names name;
  return name.around(narrowed(name, name(function(widened(name, name(x))))));
}

}  // namespace

Expr tgamma(const Expr& x) { return in_double(x, gamma_of_double); }

// Of positive numbers, and in a branch of others.
Expr lgamma(const Expr& argument) {
  Names name;
  const Expr x = name(argument);
  const bool single = is_single(x);
  const Expr a = single ? name(Halide::cast(x.type().with_bits(64), x)) : x;
  const Expr usual = log_gamma_of_positive(name, a, split, single ? kLogGammaSingle : kLogGammaDouble);
  const Expr is_usual = single ? is_within(x, 0x1p-149, 0x1p120) : is_within(x, 0x1p-1022, 0x1p1000);
  return name.around(usually(Halide::cast(x.type(), usual), !is_usual, "lgamma", {x}));
}
Expr rare_lgamma(const std::vector<Expr>& x) { return in_double(x[0], log_gamma_of_double); }

}  // namespace tile_tune::codegen::functions
