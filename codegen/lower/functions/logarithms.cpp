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

// log(1 + f) - (f - f^2 / 2) of f64.
Expr tail(Names& names, const Expr& f, const Expr& half_square) {
  const Expr s = names(strict::div(f, strict::add(f, number(f, 2))));
  const Expr square = names(s * s);
  return names(s * (square * horner(square, kTail) + half_square));
}

// log(1 + f) + more of f64, where `more` is small.
Expr natural(Names& names, const Expr& f, const Expr& more) {
  const Expr half_square = names(f * f * number(f, 0.5));
  return names(strict::sub(f, half_square - (tail(names, f, half_square) + more)));
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

// log_b(1 + f)
Expr in_base(Names& names, const Expr& f, const std::vector<double>& polynomial, double log_of_e) {
  return names(is_single(f) ? f * horner(f, polynomial) : natural(names, f, number(f, 0)) * number(f, log_of_e));
}

}  // namespace

Logarithmic split(Names& names, const Expr& x) {
  const Format format = format_of(x);
  const double least = is_single(x) ? 0x1p-126 : 0x1p-1022, bias = format.integers + static_cast<double>(format.bias);
  const Expr is_subnormal = names(strict::less(x, number(x, least)));
  const Expr scaled = strict::mul(x, number(x, std::ldexp(1.0, format.significand)));
  const Expr split = split_bits(names, names(Halide::select(is_subnormal, scaled, x)));
  const Expr bias_of = Halide::select(is_subnormal, number(x, bias + format.significand), number(x, bias));
  return {names(exponent_of(split, bias_of, format)), names(significand_less_one(split, format)), Expr()};
}

Logarithmic split_sum(Names& names, const Expr& z, const Expr& is_large) {
  return split_sum(names, Pair{z, Expr()}, is_large);
}

Logarithmic split_sum(Names& names, const Pair& words, const Expr& is_large) {
  const Expr& z = words.high;
  const Format format = format_of(z);
  const Expr one = number(z, 1);
  const Expr split = split_bits(names, names(Halide::select(is_large, z, strict::add(z, one))));
  // (1 + z) 2^-e - 1
  const Expr exponent = split & word(z, is_single(z) ? 0x7f800000 : 0x7ff0000000000000);
  const Expr power = names(float_of(word(z, (2 * format.bias) << format.significand) - exponent));
  const Expr near = strict::add(strict::mul(z, power), strict::sub(power, one));
  const Expr far = significand_less_one(split, format);
  const Expr bias = number(z, format.integers + static_cast<double>(format.bias));
  return {names(exponent_of(split, bias, format)), names(Halide::select(is_large, far, near)),
          words.low.defined() ? names(Halide::select(is_large, number(z, 0), strict::mul(words.low, power))) : Expr()};
}

Expr logarithm(Names& names, const Logarithmic& x) {
  const auto& [e, f, rest] = x;
  const auto with_rest = [&](const Expr& value) { return rest.defined() ? value + rest : value; };
  if (is_single(f)) return e * number(f, 0x1.62e43p-1) + strict::add(f, with_rest(f * f * horner(f, kNaturalRest)));
  // ln 2 in two parts, of which the first has so few bits that its product with e is exact.
  return e * number(f, 0x1.62e42fefap-1) + natural(names, f, with_rest(e * number(f, 0x1.cf79abc9e3b3ap-40)));
}

Expr log(const Expr& argument) {
  Names names;
  const Expr x = names(argument);
  return names.around(with_limits(x, logarithm(names, split(names, x))));
}

Expr log2(const Expr& argument) {
  Names names;
  const Expr x = names(argument);
  const auto [e, f, none] = split(names, x);
  return names.around(with_limits(x, e + in_base(names, f, kBinary, 0x1.71547652b82fep0)));
}

Expr log10(const Expr& argument) {
  Names names;
  const Expr x = names(argument);
  const auto [e, f, none] = split(names, x);
  const Expr y = in_base(names, f, kDecimal, 0x1.bcb7b1526e50ep-2);
  if (!is_single(x)) return names.around(with_limits(x, e * number(x, 0x1.34413509f79ffp-2) + y));
  // The f32 nearest to log10 2 is half an ulp from it: in two parts, of which the first has 11 bits.
  const Expr sum = e * number(x, 0x1.344p-2) + strict::add(y, strict::mul(e, number(x, 0x1.3509f8p-18)));
  return names.around(with_limits(x, sum));
}

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
