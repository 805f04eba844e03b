// log(2^e (1 + f)) = e log 2 + log(1 + f), |f| < 0.42. In f32 a polynomial of f; in f64 one of s = f / (2 + f), where
// log(1 + f) = 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + s^2 P(s^2)) takes half the coefficients (as in FreeBSD's msun,
// by Sun Microsystems). Bases 2 and 10 of f64 multiply by a constant of two words.
#include "codegen/lower/functions/logarithms.h"

#include <cmath>
#include <limits>

#include "codegen/lower/functions/functions.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Of (log(1 + f) - f) / f^2, within 0.01 ulp.
const std::vector<double> kNaturalRest{-0x1p-1,       0x1.555546p-2,  -0x1.000004p-2, 0x1.99a55ap-3,  -0x1.555d9cp-3,
                                       0x1.232c4ep-3, -0x1.fbeaeep-4, 0x1.e75926p-4,  -0x1.dfa138p-4, 0x1.151bfep-4};

// Of log_b(1 + f) / f, within 0.15 and 0.2 ulp.
const std::vector<double> kBinary{0x1.715476p0,   -0x1.71547p-1, 0x1.ec7142p-2,  -0x1.715b22p-2, 0x1.2765eep-2,
                                  -0x1.ea7fe6p-3, 0x1.a59c58p-3, -0x1.8b4c9cp-3, 0x1.7152aap-3,  -0x1.9684dcp-4};
const std::vector<double> kDecimal{0x1.bcb7b2p-2,  -0x1.bcb7aap-3, 0x1.2879bap-3,  -0x1.bcbe92p-4, 0x1.6404ap-4,
                                   -0x1.279e7cp-4, 0x1.f2a7b4p-5,  -0x1.cf98d2p-5, 0x1.e7795p-5,   -0x1.3f2c94p-5};

// P, within 0.08 ulp.
const std::vector<double> kTail{0x1.5555555555558p-1, 0x1.9999999995243p-2, 0x1.2492492e0b364p-2, 0x1.c71c62c10c6cap-3,
                                0x1.7462bf6599cfap-3, 0x1.39fcf7eb7daadp-3, 0x1.2b69b6dc842b2p-3};

// log_b 2 in two parts, the first so short that its product with e is exact; 1 / ln b in two parts, the first of 26
// bits.
struct Base {
  double two_high, two_low, high, low;
};
constexpr Base kBase2{1, 0, 0x1.7154768p0, -0x1.6a3e80f444178p-27};
constexpr Base kBase10{0x1.34413509f78p-2, 0x1.fef311f12b358p-46, 0x1.bcb7b18p-2, -0x1.6c8d78e6acaa4p-29};

// log(1 + f) - (f - f^2 / 2) of f64.
Expr tail(Names& names, const Expr& f, const Expr& half_square) {
  const Expr s = names(strict::div(f, strict::add(f, number(f, 2))));
  const Expr square = names(s * s);
  return names(s * (square * horner(square, kTail) + half_square));
}

// Of f64, with 1 / ln b in two words.
Expr in_base(Names& names, const Logarithmic& x, const Base& base) {
  const auto& [e, f] = x;
  const Expr half_square = names(strict::mul(strict::mul(f, f), number(f, 0.5)));
  const Expr high = halves(names, names(strict::sub(f, half_square))).high;
  const Expr low = names(strict::add(strict::sub(strict::sub(f, high), half_square), tail(names, f, half_square)));
  const Expr product = names(strict::mul(high, number(f, base.high)));
  const Expr products = names((low + high) * number(f, base.low) + low * number(f, base.high));
  const Expr whole = names(strict::mul(e, number(f, base.two_high)));
  const Expr sum = names(strict::add(whole, product));
  const Expr error = strict::add(strict::sub(whole, sum), product);
  return strict::add(sum, strict::add(error, products + e * number(f, base.two_low)));
}

// `finite` where x is a positive number, and what C has elsewhere.
Expr with_limits(const Expr& x, const Expr& finite) {
  const Expr zero = number(x, 0);
  const Expr is_positive = is_within(x, is_single(x) ? 0x1p-149 : 0x1p-1074, kInfinity);
  const Expr other = Halide::select(strict::less(x, zero), not_a_number(x), x);
  return Halide::select(is_positive, finite, Halide::select(strict::equal(x, zero), -infinity(x), other));
}

struct Format {
  int significand;
  uint64_t bias, root;  // the bits of sqrt(1/2)
  double integers;      // to whose bits an integer is added to become a float
};
Format format_of(const Expr& x) {
  if (is_single(x)) return {23, 127, 0x3f3504f3, 0x1p23};
  return {52, 1023, 0x3fe6a09e667f3bcd, 0x1p52};
}

// For x = 2^e * m, m in [sqrt(1/2), sqrt(2)): a word whose exponent is e with its bias, and whose significand m is
// above sqrt(1/2).
Expr split_bits(Names& names, const Expr& x) {
  const Format format = format_of(x);
  return names(bits_of(x) + word(x, (format.bias << format.significand) - format.root));
}

Expr exponent_of(const Expr& split, const Expr& bias, const Format& format) {
  const Expr biased = split >> Halide::Internal::make_const(split.type(), format.significand);
  const Expr integers = number(bias, format.integers);
  return strict::sub(float_of(biased | bits_of(integers)), bias);
}

Expr significand_less_one(const Expr& split, const Format& format) {
  const auto constant = [&](uint64_t value) { return Halide::Internal::make_const(split.type(), value); };
  const Expr above = split & constant((uint64_t{1} << format.significand) - 1);
  const Expr significand = float_of(above + constant(format.root));
  return strict::sub(significand, number(significand, 1));
}

Expr logarithm_of(const Expr& argument, const std::vector<double>& polynomial, const Base& base) {
  Names names;
  const Expr x = names(argument);
  const Logarithmic parts = split(names, x);
  if (!is_single(x)) return names.around(with_limits(x, in_base(names, parts, base)));
  const auto& [e, f] = parts;
  const Expr y = horner(f, polynomial) * f;
  // log10 2 in two parts, of which the first has 11 bits.
  const bool binary = base.two_high == 1;
  const Expr sum =
      binary ? y + e : e * number(f, 0x1.344p-2) + strict::add(y, strict::mul(e, number(f, 0x1.3509f8p-18)));
  return names.around(with_limits(x, sum));
}

}  // namespace

Logarithmic split(Names& names, const Expr& x) {
  const Format format = format_of(x);
  const double least = is_single(x) ? 0x1p-126 : 0x1p-1022, bias = format.integers + static_cast<double>(format.bias);
  const Expr is_subnormal = names(strict::less(x, number(x, least)));
  const Expr scaled = strict::mul(x, number(x, std::ldexp(1.0, format.significand)));
  const Expr split = split_bits(names, names(Halide::select(is_subnormal, scaled, x)));
  const Expr bias_of = Halide::select(is_subnormal, number(x, bias + format.significand), number(x, bias));
  return {names(exponent_of(split, bias_of, format)), names(significand_less_one(split, format))};
}

Logarithmic split_sum(Names& names, const Expr& z, const Expr& is_large) {
  const Format format = format_of(z);
  const Expr one = number(z, 1);
  const Expr split = split_bits(names, names(Halide::select(is_large, z, strict::add(z, one))));
  // (1 + z) 2^-e - 1
  const Expr exponent = split & word(z, is_single(z) ? 0x7f800000 : 0x7ff0000000000000);
  const Expr power = names(float_of(word(z, (2 * format.bias) << format.significand) - exponent));
  const Expr near = strict::add(strict::mul(z, power), strict::sub(power, one));
  const Expr far = significand_less_one(split, format);
  const Expr bias = number(z, format.integers + static_cast<double>(format.bias));
  return {names(exponent_of(split, bias, format)), names(Halide::select(is_large, far, near))};
}

Expr logarithm(Names& names, const Logarithmic& x) {
  const auto& [e, f] = x;
  if (is_single(f)) {
    const Expr rest = names(f * f) * horner(f, kNaturalRest) + e * number(f, 0x1.7f7d1cp-20);
    return e * number(f, 0x1.62e4p-1) + strict::add(f, rest);
  }
  const Expr half_square = names(f * f * number(f, 0.5));
  const Expr rest = half_square - (tail(names, f, half_square) + e * number(f, 0x1.cf79abc9e3b3ap-40));
  return e * number(f, 0x1.62e42fefap-1) + strict::sub(f, rest);
}

Expr log(const Expr& argument) {
  Names names;
  const Expr x = names(argument);
  return names.around(with_limits(x, logarithm(names, split(names, x))));
}

Expr log2(const Expr& x) { return logarithm_of(x, kBinary, kBase2); }
Expr log10(const Expr& x) { return logarithm_of(x, kDecimal, kBase10); }

Expr log1p(const Expr& argument) {
  Names names;
  const Expr x = names(argument), least = number(x, -1);
  const Expr is_large = names(strict::less(number(x, is_single(x) ? 0x1p28 : 0x1p56), x));
  const Expr result = logarithm(names, split_sum(names, x, is_large));
  const Expr is_usual = is_within(magnitude(x), is_single(x) ? 0x1p-26 : 0x1p-55, kInfinity) && strict::less(least, x);
  // Where x is so small that it is the result, NaN, and infinity.
  const Expr other = Halide::select(strict::less(x, least), not_a_number(x), x);
  return names.around(Halide::select(is_usual, result, Halide::select(strict::equal(x, least), -infinity(x), other)));
}

}  // namespace tile_tune::codegen::functions
