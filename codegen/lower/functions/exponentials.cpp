// b^x = 2^n * e^r with n = round(x * log2 b), |r| <= ln 2 / 2, where a polynomial of degree 6 (f64: 11) is within 0.03
// ulp (0.13 ulp; Remez, relative error). Log-sum-exp of 4096 x 1024 takes 1.27 ms on one Zen 4 core, 1.95 ms with
// Halide's exp and what NaN and infinity needed around it.
#include "codegen/lower/functions/exponentials.h"

#include <cmath>

#include "codegen/lower/functions/functions.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// Coefficients of q.
const std::vector<double> kSingleTail{0x1.fffffcp-2, 0x1.555492p-3, 0x1.5558f2p-5, 0x1.1239e2p-7, 0x1.6a2434p-10};
const std::vector<double> kDoubleTail{
    0x1.0000000000001p-1,  0x1.5555555555558p-3,  0x1.5555555553cb8p-5,  0x1.111111110f8cbp-7,  0x1.6c16c178bac58p-10,
    0x1.a01a01afc2249p-13, 0x1.a019b877dd29fp-16, 0x1.71ddf762c3ce5p-19, 0x1.289221116d377p-22, 0x1.af620c5ddc211p-26};

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
static Expr shift_to_integer(const Expr& x) { return number(x, is_single(x) ? 0x1.8p23 + 254 : 0x1.8p52 + 2046); }

Reduced reduce(Names& names, Base base, const Expr& x) {
  const Expr to_integer = shift_to_integer(x);
  if (base == Base::Two) {
    const Expr shifted = names(strict::add(x, to_integer));
    const Expr n = names(strict::sub(shifted, to_integer));
    return {bits_of(shifted), names(strict::mul(strict::sub(x, n), number(x, natural_logarithm(base)))), {}, {}};
  }
  const Constants part = constants(base, is_single(x));
  const Expr shifted = names(x * number(x, part.logarithm) + to_integer);
  const Expr n = names(strict::sub(shifted, to_integer));
  const Expr high = names(x - n * number(x, part.high)), low = names(n * number(x, part.low));
  // Strict, or LLVM would put the two parts together again.
  const Expr r = names(strict::sub(high, low));
  if (base == Base::E) return {bits_of(shifted), r, high, low};
  return {bits_of(shifted), names(strict::mul(r, number(x, natural_logarithm(base)))), {}, {}};
}

Expr exponential_tail(const Expr& r) { return horner(r, is_single(r) ? kSingleTail : kDoubleTail); }
Expr quick_exponential_tail(Names& names, const Expr& r) {
  return estrin(names, r, is_single(r) ? kSingleTail : kDoubleTail);
}

// 2^(n + more) in one number.
static Expr whole_power_of_two(const Reduced& reduced, int more) {
  const Expr& r = reduced.r;
  const Expr biased = reduced.shifted - word(r, (is_single(r) ? 127 : 1023) - static_cast<uint64_t>(more));
  return float_of(biased << word(r, is_single(r) ? 23 : 52));
}

static Expr fraction(Names& names, const Expr& r) {
  return names((exponential_tail(r) * r + number(r, 1)) * r + number(r, 1));
}

Expr power_less_one(Names& names, const Expr& x, int more) {
  const Reduced reduced = reduce(names, Base::E, x);
  const Expr& r = reduced.r;
  const Expr power = names(whole_power_of_two(reduced, more));
  // (2^n - 1) + 2^n * high is exact where the sum is small.
  const Expr sum = strict::add(strict::sub(power, number(x, std::ldexp(1.0, more))), strict::mul(power, reduced.high));
  return sum + power * names(names(r * r) * exponential_tail(r) - reduced.low);
}

Expr power_of_twice(Names& names, const Expr& x) {
  const Expr to_integer = shift_to_integer(x);
  const Expr shifted = names(x * number(x, 2 * kBinaryOfE) + to_integer);
  const Expr n = names(strict::sub(shifted, to_integer));
  const Expr r = names(strict::add(x, x) - n * number(x, natural_logarithm(Base::Two)));
  return names(strict::mul(fraction(names, r), whole_power_of_two({bits_of(shifted), r, {}, {}}, 0)));
}

Expr scaled(Names& names, const Expr& value, const Reduced& reduced, int more) {
  // 2^n as a product of two: a result that is subnormal is rounded once, one beyond the type overflows.
  const Expr significand = word(value, is_single(value) ? 23 : 52);
  const Expr biased = names(reduced.shifted + word(value, static_cast<uint64_t>(more)));
  const Expr half = names(biased >> word(value, 1));
  const Expr first = float_of(half << significand), second = float_of((biased - half) << significand);
  return strict::mul(strict::mul(value, first), second);
}

Expr scaled_power(Names& names, Base base, const Expr& x, int more) {
  const Reduced reduced = reduce(names, base, x);
  return scaled(names, fraction(names, reduced.r), reduced, more);
}

// Beyond `least` and `most` the type has only 0 and infinity: b^least is less than half its least number, b^most more
// than its largest.
static Expr power_of(Base base, const Expr& argument, double least, double most) {
  Names names;
  const Expr x = names(argument);
  const Expr power = scaled_power(names, base, clamped(names, x, least, most));
  return names.around(Halide::select(strict::is_nan(x), x, power));
}

Expr exp(const Expr& x) { return is_single(x) ? power_of(Base::E, x, -104, 89) : power_of(Base::E, x, -746, 710); }

Expr exp2(const Expr& x) {
  return is_single(x) ? power_of(Base::Two, x, -151, 129) : power_of(Base::Two, x, -1076, 1025);
}

Expr exp10(const Expr& x) { return is_single(x) ? power_of(Base::Ten, x, -46, 39) : power_of(Base::Ten, x, -325, 309); }

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

// s = p / (1 + p) with p = e^-|x|, or 1 - s: neither overflows, and small results keep their bits. As p - p s, of which
// the quotient's errors count p times only.
Expr sigmoid(const Expr& argument) {
  Names names;
  const Expr x = names(argument), one = number(x, 1);
  const Expr inside = bounded_magnitude(names, x, is_single(x) ? 104 : 746);
  // e^r by the exact part of r and the small rest: of what rounds r, s would have twice as much.
  const Reduced reduced = reduce(names, Base::E, with_sign(inside, word(x, sign_mask(x))));
  const Expr rest = names(reduced.r * reduced.r) * exponential_tail(reduced.r) - reduced.low;
  const Expr fraction = names(strict::add(one, strict::add(reduced.high, rest)));
  const Expr power = names(scaled(names, fraction, reduced));
  const Expr quotient = strict::div(power, strict::add(one, power));
  const Expr s = names(strict::sub(power, strict::mul(power, quotient)));
  const Expr result = Halide::select(strict::less(x, number(x, 0)), s, strict::sub(one, s));
  return names.around(Halide::select(strict::is_nan(x), x, result));
}

}  // namespace tile_tune::codegen::functions
