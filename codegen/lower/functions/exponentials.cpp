// b^x = 2^n * e^r with n = round(x * log2 b), |r| <= ln 2 / 2, where a polynomial of degree 6 (f64: 11) is within 0.03
// ulp (0.13 ulp; Remez, relative error). Log-sum-exp of 4096 x 1024 takes 1.27 ms on one Zen 4 core, 1.95 ms with
// Halide's exp and what NaN and infinity needed around it.
#include "codegen/lower/functions/exponentials.h"

#include <cmath>

#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// Coefficients of q.
const std::vector<double> kSingleTail{0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558f2p-5, 0x1.1239e2p-7, 0x1.6a2434p-10};
const std::vector<double> kDoubleTail{
    0x1.0000000000001p-1,  0x1.5555555555558p-3,  0x1.5555555553cb8p-5,  0x1.111111110f8cbp-7,  0x1.6c16c178bac58p-10,
    0x1.a01a01afc2249p-13, 0x1.a019b877dd29fp-16, 0x1.71ddf762c3ce5p-19, 0x1.289221116d377p-22, 0x1.af620c5ddc211p-26};

// K, where b^r = 1 + r / (1 / ln b - r / 2 + r^2 K(r^2)) for b = e and 10: within 2^-59 and 2^-56. A division takes
// less time than the coefficients that it saves.
const std::vector<double> kDoubleQuotient{0x1.5555555555553p-4, -0x1.6c16c16c09e83p-10, 0x1.1566ab58eeeebp-15,
                                          -0x1.bbd5296789628p-21, 0x1.63ee698dc28b7p-26};
const std::vector<double> kDoubleDecimalQuotient{0x1.88f97a4f1c6c5p-3, -0x1.15cd2bdb93294p-6, 0x1.188c302dc5507p-9,
                                                 -0x1.297b214e55b16p-12, 0x1.3c384621094cbp-15};

// Of (2^r - 1) / r and, of f32, (10^r - 1) / r, within 0.1 ulp.
const std::vector<double> kSingleBinary{0x1.62e43p-1,  0x1.ebfbdep-3,  0x1.c6af9ep-5,
                                        0x1.3b2c58p-7, 0x1.5ef4acp-10, 0x1.427932p-13};
const std::vector<double> kDoubleBinary{0x1.62e42fefa39efp-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d704a1acp-5,
                                        0x1.3b2ab6fba1edbp-7,  0x1.5d87fe7880471p-10, 0x1.430913093d128p-13,
                                        0x1.ffcbfd01645c8p-17, 0x1.62bfd4f394576p-20, 0x1.b523dc6b6d027p-24,
                                        0x1.e60570d75ca42p-28, 0x1.eb5ad16d72089p-32};
const std::vector<double> kSingleDecimal{0x1.26bb1cp1, 0x1.53524cp1,  0x1.046faap1,
                                         0x1.2bd7cap0, 0x1.155f18p-1, 0x1.a864b2p-3};
// log2 b, and its reciprocal in two parts, of which the first has so few bits that its product with n is exact.
struct Constants {
  double logarithm, high, low;
};
Constants constants(Base base, bool single) {
  if (base == Base::E && single) return {0x1.715476p0, 0x1.62e4p-1, 0x1.7f7d1cp-20};
  if (base == Base::E) return {0x1.71547652b82fep0, 0x1.62e42fefap-1, 0x1.cf79abc9e3b3ap-40};
  if (single) return {0x1.a934fp1, 0x1.344p-2, 0x1.3509f8p-18};
  return {0x1.a934f0979a371p1, 0x1.3441350a0p-2, -0x1.0c0219dc1da99p-39};
}

constexpr double kBinaryOfE = 0x1.71547652b82fep0;  // log2 e

double natural_logarithm(Base base) { return base == Base::Two ? 0x1.62e42fefa39efp-1 : 0x1.26bb1bbb55516p1; }

}  // namespace

Expr clamped(Names& names, const Expr& x, double least, double most) {
  const Expr below = names(Halide::select(strict::less(x, number(x, most)), x, number(x, most)));
  return names(Halide::select(strict::less(number(x, least), below), below, number(x, least)));
}

Expr bounded_magnitude(Names& names, const Expr& x, double most) {
  const Expr size = names(magnitude(x));
  return names(Halide::select(strict::less(size, number(x, most)), size, number(x, most)));
}

// Added to a small number, 1.5 * 2^23 rounds it to an integer, which then stands in the last bits. 254 more, twice the
// exponent's bias, make both halves of it biased exponents.
static Expr shift_to_integer(const Expr& x, double more) {
  return number(x, (is_single(x) ? 0x1.8p23 : 0x1.8p52) + more);
}
static Expr shift_to_biased(const Expr& x) { return shift_to_integer(x, is_single(x) ? 254 : 2046); }

static Reduced reduce_by(Names& names, Base base, const Expr& x, const Expr& to_integer) {
  if (base == Base::Two) {
    const Expr shifted = names(strict::add(x, to_integer));
    return {bits_of(shifted), names(strict::sub(x, names(strict::sub(shifted, to_integer)))), {}, {}};
  }
  const Constants part = constants(base, is_single(x));
  const Expr shifted = names(x * number(x, part.logarithm) + to_integer);
  const Expr n = names(strict::sub(shifted, to_integer));
  const Expr high = names(x - n * number(x, part.high)), low = names(n * number(x, part.low));
  // Strict, or LLVM would put the two parts together again.
  const Expr r = where_fused(fma(n, number(x, -part.low), high), strict::sub(high, low));
  return {bits_of(shifted), names(r), high, low};
}

Reduced reduce(Names& names, Base base, const Expr& x) {
  Reduced reduced = reduce_by(names, base, x, shift_to_biased(x));
  if (base != Base::E) reduced.r = names(strict::mul(reduced.r, number(x, natural_logarithm(base))));
  return reduced;
}

Reduced reduce_unbiased(Names& names, Base base, const Expr& x, int more) {
  return reduce_by(names, base, x, shift_to_integer(x, more));
}

// 1 / ln b - r / 2 + r^2 K(r^2) of f64.
static Expr divisor(Names& names, Base base, const Expr& r) {
  const Expr square = names(strict::mul(r, r));
  const Expr last = multiply_add(r, number(r, -0.5), number(r, base == Base::E ? 1 : 0x1.bcb7b1526e50ep-2));
  return square * horner(square, base == Base::E ? kDoubleQuotient : kDoubleDecimalQuotient) + last;
}

Expr power_of_rest(Names& names, Base base, const Expr& r) {
  if (base == Base::Ten && !is_single(r))
    return names(strict::add(number(r, 1), strict::div(r, divisor(names, base, r))));
  const auto& single = base == Base::Two ? kSingleBinary : kSingleDecimal;
  return names(polynomial(names, r, is_single(r) ? single : kDoubleBinary) * r + number(r, 1));
}

Expr exponential_tail(Names& names, const Expr& r) {
  return estrin(names, r, is_single(r) ? kSingleTail : kDoubleTail);
}

// 2^(n + more) in one number.
static Expr whole_power_of_two(const Reduced& reduced, int more) {
  const Expr& r = reduced.r;
  const Expr biased = reduced.shifted - word(r, (is_single(r) ? 127 : 1023) - static_cast<uint64_t>(more));
  return float_of(biased << word(r, is_single(r) ? 23 : 52));
}

// e^r - 1 of which the error counts e^r - 1 times only.
static Expr quotient_less_one(Names& names, const Expr& r) {
  return is_single(r) ? fraction_less_one(names, r) : strict::div(r, divisor(names, Base::E, r));
}

Expr fraction(Names& names, const Expr& r) { return names(strict::add(quotient_less_one(names, r), number(r, 1))); }

Expr fraction_less_one(Names& names, const Expr& r) {
  // Strict, or LLVM would take r out of it.
  const Expr square = names(strict::mul(r, r));
  if (is_single(r)) return names(square * exponential_tail(names, r) + r);
  // r / (1 - c / 2) as r + r c / (2 - c), of which the quotient is small.
  std::vector<double> twice = kDoubleQuotient;
  for (double& coefficient : twice) coefficient *= 2;
  const Expr c = names(r - square * horner(square, twice));
  return names(strict::add(r, strict::div(strict::mul(r, c), strict::sub(number(r, 2), c))));
}

Expr power_less_one(Names& names, const Expr& x, int more) {
  const Reduced reduced = reduce(names, Base::E, x);
  const Expr& r = reduced.r;
  const Expr power = names(whole_power_of_two(reduced, more));
  // (2^n - 1) + 2^n * high is exact where the sum is small.
  const Expr sum = strict::add(strict::sub(power, number(x, std::ldexp(1.0, more))), strict::mul(power, reduced.high));
  return sum + power * names(names(r * r) * exponential_tail(names, r) - reduced.low);
}

Expr power_of_twice(Names& names, const Expr& x) {
  const Expr to_integer = shift_to_biased(x);
  const Expr shifted = names(x * number(x, 2 * kBinaryOfE) + to_integer);
  const Expr n = names(strict::sub(shifted, to_integer));
  const Expr r = names(strict::add(x, x) - n * number(x, natural_logarithm(Base::Two)));
  const Expr power = names(whole_power_of_two({bits_of(shifted), r, {}, {}}, 0));
  return names(multiply_add(quotient_less_one(names, r), power, power));
}

// 2^(n + more) as a product of two: a result that is subnormal is rounded once, one beyond the type overflows.
static std::pair<Expr, Expr> factors(Names& names, const Reduced& reduced, int more) {
  const Expr significand = word(reduced.r, is_single(reduced.r) ? 23 : 52);
  const Expr biased = names(reduced.shifted + word(reduced.r, static_cast<uint64_t>(more)));
  const Expr half = names(biased >> word(reduced.r, 1));
  return {names(float_of(half << significand)), float_of((biased - half) << significand)};
}

Expr scaled(Names& names, const Expr& value, const Reduced& reduced, int more) {
  const auto [first, second] = factors(names, reduced, more);
  return strict::mul(strict::mul(value, first), second);
}

Expr scaled_normal(const Expr& value, const Reduced& reduced) {
  return float_of(bits_of(value) + (reduced.shifted << word(value, is_single(value) ? 23 : 52)));
}

Expr power_of_two(const Reduced& reduced) { return scaled_normal(number(reduced.r, 1), reduced); }

Expr scaled_power(Names& names, Base base, const Expr& x, int more) {
  const Reduced reduced = reduce(names, base, x);
  if (!is_single(x)) return scaled(names, fraction(names, reduced.r), reduced, more);
  const auto [first, second] = factors(names, reduced, more);
  return strict::mul(multiply_add(fraction_less_one(names, reduced.r), first, first), second);
}

// Beyond `least` and `most` the type has only 0 and infinity: b^least is less than half its least number, b^most more
// than its largest.
static Expr power_of(Base base, const Expr& argument, double least, double most) {
  Names names;
  const Expr x = names(argument);
  const Expr power = scaled_power(names, base, clamped(names, x, least, most));
  return names.around(Halide::select(strict::is_nan(x), x, power));
}

// f64 has a branch for results that are not normal numbers, but those of masks, which are common.
Expr exp(const Expr& argument) {
  if (is_single(argument)) return power_of(Base::E, argument, -104, 89);
  Names names;
  const Expr x = names(argument), zero = number(x, 0), is_masked = names(strict::less(x, number(x, -746)));
  const Expr inside = names(Halide::select(is_masked, zero, x));
  const Reduced reduced = reduce_unbiased(names, Base::E, x);
  const Expr power = scaled_normal(fraction(names, reduced.r), reduced);
  const Expr is_usual = strict::less(magnitude(inside), number(x, 708));
  return names.around(usually(Halide::select(is_masked, zero, power), !is_usual, "exp", {x}));
}
Expr rare_exp(const std::vector<Expr>& x) { return power_of(Base::E, x[0], -746, 710); }

namespace {

// b^x where it is a normal number, and in a branch where it is not.
Expr normal_power_of(Base base, const Expr& argument, double most, const std::string& name) {
  Names names;
  const Expr x = names(argument);
  const Reduced reduced = reduce_unbiased(names, base, x);
  const Expr power = scaled_normal(power_of_rest(names, base, reduced.r), reduced);
  return names.around(usually(power, !strict::less(magnitude(x), number(x, most)), name, {x}));
}

// In base 2 or 10 by the polynomials of their own.
Expr own_power_of(Base base, const Expr& argument, double least, double most) {
  Names names;
  const Expr x = names(argument), inside = clamped(names, x, least, most);
  const Reduced reduced = reduce_by(names, base, inside, shift_to_biased(x));
  const Expr power = scaled(names, power_of_rest(names, base, reduced.r), reduced);
  return names.around(Halide::select(strict::is_nan(x), x, power));
}

}  // namespace

Expr exp2(const Expr& x) {
  return is_single(x) ? own_power_of(Base::Two, x, -151, 129) : normal_power_of(Base::Two, x, 1022, "exp2");
}
Expr rare_exp2(const std::vector<Expr>& x) { return own_power_of(Base::Two, x[0], -1076, 1025); }

Expr exp10(const Expr& x) {
  return is_single(x) ? own_power_of(Base::Ten, x, -46, 39) : normal_power_of(Base::Ten, x, 307, "exp10");
}
Expr rare_exp10(const std::vector<Expr>& x) { return own_power_of(Base::Ten, x[0], -325, 309); }

// Halved until the end: 2^n may be beyond the type where the result is not.
Expr expm1(const Expr& argument) {
  Names names;
  const Expr x = names(argument);
  const Expr inside = is_single(x) ? clamped(names, x, -20, 89) : clamped(names, x, -40, 710);
  const Expr result = strict::mul(power_less_one(names, inside, -1), number(x, 2));
  // Where x is so small that it is the result, NaN, and zeros with their signs.
  const Expr is_large = strict::less(number(x, is_single(x) ? 0x1p-26 : 0x1p-55), magnitude(x));
  return names.around(Halide::select(is_large, result, x));
}

// 1 / (1 + 2^n + 2^n (e^r - 1)) with e^-x = 2^n e^r: a sum whose largest part comes last.
Expr sigmoid(const Expr& argument) {
  Names names;
  const Expr x = names(argument), one = number(x, 1);
  const Reduced reduced = reduce_unbiased(names, Base::E, with_sign(x, word(x, sign_mask(x))));
  const Expr power = names(power_of_two(reduced));
  const Expr larger = Halide::select(strict::less(power, one), one, power);
  const Expr smaller = Halide::select(strict::less(power, one), power, one);
  const Expr more = names(power * quotient_less_one(names, reduced.r) + smaller);
  const Expr result = strict::div(one, strict::add(larger, more));
  const Expr is_usual = strict::less(magnitude(x), number(x, is_single(x) ? 87 : 708));
  return names.around(usually(result, !is_usual, "sigmoid", {x}));
}

// s = p / (1 + p) with p = e^-|x|, or 1 - s: neither overflows, and small results keep their bits. As p - p s, of which
// the quotient's errors count p times only.
Expr rare_sigmoid(const std::vector<Expr>& arguments) {
  Names names;
  const Expr x = names(arguments[0]), one = number(x, 1);
  const Expr inside = bounded_magnitude(names, x, is_single(x) ? 104 : 746);
  const Expr power = names(scaled_power(names, Base::E, with_sign(inside, word(x, sign_mask(x)))));
  const Expr quotient = strict::div(power, strict::add(one, power));
  const Expr s = names(strict::sub(power, strict::mul(power, quotient)));
  const Expr result = Halide::select(strict::less(x, number(x, 0)), s, strict::sub(one, s));
  return names.around(Halide::select(strict::is_nan(x), x, result));
}

}  // namespace tile_tune::codegen::functions
