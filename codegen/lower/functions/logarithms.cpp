// log(2^e (1 + f)) = e log 2 + log(1 + f), |f| < 0.42. In f32 a polynomial of f; in f64 one of s = f / (2 + f), where
// log(1 + f) = 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + s^2 P(s^2)) takes half the coefficients (as in FreeBSD's msun,
// by Sun Microsystems). Bases 2 and 10 of f64 multiply by a constant of two words.
#include "codegen/lower/functions/logarithms.h"

#include <cmath>
#include <limits>

#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Of (log(1 + f) - f) / f^2, within 0.08 ulp.
const std::vector<double> kNaturalRest{-0x1.fffffep-2, 0x1.55555p-2,   -0x1.00022ep-2, 0x1.99a25ap-3, -0x1.547fccp-3,
                                       0x1.22b604p-3,  -0x1.0cbbf2p-3, 0x1.05e654p-3,  -0x1.3e62ap-4};

// Of log_b(1 + f) / f, within 0.25 and 0.2 ulp.
const std::vector<double> kBinary{0x1.715476p0,   -0x1.71547p-1, 0x1.ec736ep-2,  -0x1.715c5p-2, 0x1.26dcd2p-2,
                                  -0x1.e9655ap-3, 0x1.b93f92p-3, -0x1.a812e2p-3, 0x1.027af6p-3};
const std::vector<double> kDecimal{0x1.bcb7b2p-2,  -0x1.bcb7aap-3, 0x1.2879bap-3,  -0x1.bcbe92p-4, 0x1.6404ap-4,
                                   -0x1.279e7cp-4, 0x1.f2a7b4p-5,  -0x1.cf98d2p-5, 0x1.e7795p-5,   -0x1.3f2c94p-5};

// P, within 0.08 ulp.
const std::vector<double> kTail{0x1.5555555555558p-1, 0x1.9999999995243p-2, 0x1.2492492e0b364p-2, 0x1.c71c62c10c6cap-3,
                                0x1.7462bf6599cfap-3, 0x1.39fcf7eb7daadp-3, 0x1.2b69b6dc842b2p-3};

// log(1 + f) - (f - f^2 / 2) of f64.
Expr tail(Names& names, const Expr& f, const Expr& half_square) {
  const Expr s = names(strict::div(f, strict::add(f, number(f, 2))));
  const Expr square = names(s * s);
  return names(s * (square * polynomial(names, square, kTail) + half_square));
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

// atanh(s) = s + s^3 P(s^2), |s| <= 0.282: within 0.03 ulp.
const std::vector<double> kSingleArea{0x1.555554p-2, 0x1.999fd4p-3, 0x1.22f6d8p-3, 0x1.03bb0cp-3};
const std::vector<double> kDoubleArea{0x1.5555555555557p-2, 0x1.9999999998477p-3, 0x1.2492492634cabp-3,
                                      0x1.c71c702d7bb37p-4, 0x1.745d7c730a5bap-4, 0x1.3b05a468ffb06p-4,
                                      0x1.123553cb77eb1p-4, 0x1.c6827c08bf511p-5, 0x1.2d5967b86c741p-4};

struct Format {
  int significand;
  uint64_t bias, root;  // the bits of sqrt(1/2)
};
Format format_of(const Expr& x) {
  if (is_single(x)) return {23, 127, 0x3f3504f3};
  return {52, 1023, 0x3fe6a09e667f3bcd};
}

// For x = 2^e * m, m in [sqrt(1/2), sqrt(2)): a word whose upper bits are e, and whose lower ones m is above sqrt(1/2).
// f64 has the bias in e: it has no conversion from integers below AVX-512.
Expr split_bits(Names& names, const Expr& x) {
  const Format format = format_of(x);
  return names(bits_of(x) + word(x, (is_single(x) ? 0 : format.bias << format.significand) - format.root));
}

Expr exponent_of(const Expr& split, const Halide::Type& type) {
  if (type.bits() == 32) return Halide::cast(type, Halide::reinterpret(type.with_code(halide_type_int), split) >> 23);
  const Expr integers = Halide::Internal::make_const(type, 0x1p52), biased = split >> word(integers, 52);
  return strict::sub(float_of(biased | bits_of(integers)), number(integers, 0x1p52 + 1023));
}

Expr significand_less_one(const Expr& split, const Format& format) {
  const auto constant = [&](uint64_t value) { return Halide::Internal::make_const(split.type(), value); };
  const Expr above = split & constant((uint64_t{1} << format.significand) - 1);
  const Expr significand = float_of(above + constant(format.root));
  return strict::sub(significand, number(significand, 1));
}

// log_b(1 + f)
Expr in_base(Names& names, const Expr& f, const std::vector<double>& polynomial, double log_of_e) {
  return names(is_single(f) ? f * functions::polynomial(names, f, polynomial)
                            : natural(names, f, number(f, 0)) * number(f, log_of_e));
}

}  // namespace

Logarithmic split(Names& names, const Expr& x) {
  const Expr split = split_bits(names, x);
  return {names(exponent_of(split, x.type())), names(significand_less_one(split, format_of(x))), Expr()};
}

Logarithmic split_any(Names& names, const Expr& x) {
  const int more = format_of(x).significand;
  const Expr is_subnormal = names(strict::less(x, number(x, is_single(x) ? 0x1p-126 : 0x1p-1022)));
  const Expr scaled = strict::mul(x, number(x, std::ldexp(1.0, more)));
  const auto [e, f, none] = split(names, names(Halide::select(is_subnormal, scaled, x)));
  return {names(strict::sub(e, Halide::select(is_subnormal, number(x, more), number(x, 0)))), f, none};
}

Logarithmic split_sum(Names& names, const Expr& z) { return split_sum(names, Pair{z, Expr()}); }

Logarithmic split_sum(Names& names, const Pair& words) {
  const Expr& z = words.high;
  const Format format = format_of(z);
  const Expr one = number(z, 1), split = split_bits(names, names(strict::add(z, one)));
  // (1 + z) 2^-e - 1
  const Expr exponent = split & word(z, ~uint64_t{0} << format.significand);
  const uint64_t unit = format.bias << format.significand;
  const Expr power = names(float_of(word(z, is_single(z) ? unit : 2 * unit) - exponent));
  return {names(exponent_of(split, z.type())), names(z * power + strict::sub(power, one)),
          words.low.defined() ? names(strict::mul(words.low, power)) : Expr()};
}

Expr logarithm(Names& names, const Logarithmic& x) {
  const Expr &e = x.e, &f = x.f;
  const auto with_rest = [&](const Expr& value) { return x.rest.defined() ? value + x.rest : value; };
  if (is_single(f))
    return e * number(f, 0x1.62e43p-1) + strict::add(f, with_rest(f * f * polynomial(names, f, kNaturalRest)));
  // ln 2 in two parts, of which the first has so few bits that its product with e is exact.
  return e * number(f, 0x1.62e42fefap-1) + natural(names, f, with_rest(e * number(f, 0x1.cf79abc9e3b3ap-40)));
}

Expr area_rest(Names& names, const Expr& s) {
  const Expr square = names(s * s);
  return names(strict::mul(s, square)) * polynomial(names, square, is_single(s) ? kSingleArea : kDoubleArea);
}

namespace {

// Of a positive number in two parts.
using Parts = Expr (*)(Names&, const Logarithmic&);

Expr natural_of(Names& names, const Logarithmic& x) { return logarithm(names, x); }

Expr binary_of(Names& names, const Logarithmic& x) {
  const Expr binary = x.e + in_base(names, x.f, kBinary, 0x1.71547652b82fep0);
  if (!is_single(x.f)) return binary;
  // Where every product is rounded, as a sum with f, which is exact.
  std::vector<double> less_one = kBinary;
  less_one[0] = 0x1.c551d94ae0bf8p-2;
  const Expr portable = strict::add(x.f, strict::mul(x.f, polynomial(names, x.f, less_one)));
  return where_fused(binary, strict::add(x.e, portable));
}

Expr decimal_of(Names& names, const Logarithmic& x) {
  const auto& [e, f, none] = x;
  if (!is_single(f)) return e * number(f, 0x1.34413509f79ffp-2) + in_base(names, f, kDecimal, 0x1.bcb7b1526e50ep-2);
  // The f32 nearest to log10 2 is half an ulp from it: in two parts, of which the first has 11 bits.
  const Expr low = strict::mul(e, number(f, 0x1.3509f8p-18));
  const Expr above = even_and_odd(f, names(f * f), {kDecimal.begin() + 1, kDecimal.end()});
  const Expr series = above * f + number(f, kDecimal[0]);
  return multiply_add(e, number(f, 0x1.344p-2), multiply_add(f, series, low));
}

Expr of_normal(const Expr& argument, Parts logarithm, const std::string& name) {
  Names names;
  const Expr x = names(argument);
  return names.around(usually(logarithm(names, split(names, x)), !is_positive_normal(x), name, {x}));
}

Expr of_any(const Expr& argument, Parts logarithm) {
  Names names;
  const Expr x = names(argument);
  return names.around(with_limits(x, logarithm(names, split_any(names, x))));
}

}  // namespace

Expr log(const Expr& x) { return of_normal(x, natural_of, "log"); }
Expr log2(const Expr& x) { return of_normal(x, binary_of, "log2"); }
Expr log10(const Expr& x) { return of_normal(x, decimal_of, "log10"); }
Expr rare_log(const std::vector<Expr>& x) { return of_any(x[0], natural_of); }
Expr rare_log2(const std::vector<Expr>& x) { return of_any(x[0], binary_of); }
Expr rare_log10(const std::vector<Expr>& x) { return of_any(x[0], decimal_of); }

// A small x comes out as itself, but a zero loses its sign.
Expr log1p(const Expr& argument) {
  Names names;
  const Expr x = names(argument), sum = strict::add(x, number(x, 1));
  const Expr result = float_of(bits_of(logarithm(names, split_sum(names, x))) | sign_bit(x));
  const Expr is_usual = is_within(sum, is_single(x) ? 0x1p-24 : 0x1p-53, is_single(x) ? 0x1p24 : 0x1p53);
  return names.around(usually(result, !is_usual, "log1p", {x}));
}

Expr rare_log1p(const std::vector<Expr>& arguments) {
  return rare_log({strict::add(arguments[0], number(arguments[0], 1))});
}

}  // namespace tile_tune::codegen::functions
