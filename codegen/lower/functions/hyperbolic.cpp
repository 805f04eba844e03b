#include "codegen/lower/functions/exponentials.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// Of (cosh(r) - 1) / r^2 and (sinh(r) - r) / r^3 in r^2, |r| <= ln 2 / 2: within 2^-32 and 2^-56.
const std::vector<double> kSingleCosine{0x1p-1, 0x1.555502p-5, 0x1.6d2e08p-10};
const std::vector<double> kDoubleCosine{0x1.0000000000001p-1, 0x1.5555555553cd5p-5, 0x1.6c16c178ad307p-10,
                                        0x1.a019b8b0664adp-16, 0x1.2891db5ac5617p-22};
const std::vector<double> kSingleSine{0x1.555556p-3, 0x1.110f88p-7, 0x1.a3638cp-13};
const std::vector<double> kDoubleSine{0x1.5555555555556p-3, 0x1.111111111070ap-7, 0x1.a01a01a9031f8p-13,
                                      0x1.71de0a3920c7bp-19, 0x1.af3f0f614df43p-26};

// P, where tanh(x) = x + x^3 P(x^2) for |x| <= 9/16: within 0.1 ulp (f64 0.05 ulp).
const std::vector<double> kSingleTanh{-0x1.555554p-2, 0x1.110fa8p-3, -0x1.b98ebap-5, 0x1.5c59b8p-6, -0x1.ab94bp-8};
const std::vector<double> kDoubleTanh{-0x1.5555555555555p-2,  0x1.1111111110f94p-3,  -0x1.ba1ba1b9ef62fp-5,
                                      0x1.664f48720e0cep-6,   -0x1.226e3215be7b3p-7, 0x1.d6d30e2d9358fp-9,
                                      -0x1.7d9538a39c84ep-10, 0x1.34aceafd8b45ap-11, -0x1.eaf30f4f7ab6cp-13,
                                      0x1.616e4e45f57fap-14,  -0x1.50031d7c63f2ep-16};

// e^|x| / 2, infinite only where e^|x| / 2 is beyond the type.
Expr half_power(Names& names, const Expr& x) {
  return names(scaled_power(names, Base::E, bounded_magnitude(names, x, is_single(x) ? 91 : 712), -1));
}

}  // namespace

// 1 - 2 / (e^(2|x|) + 1), which is 1 from some |x| on; near 0, where that would cancel, a polynomial.
Expr tanh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), one = number(x, 1);
  const Expr size = bounded_magnitude(names, x, is_single(x) ? 10 : 20);
  const Expr power = power_of_twice(names, size);
  const Expr large = strict::sub(one, strict::div(number(x, 2), strict::add(power, one)));
  const Expr square = names(size * size);
  const Expr small = square * size * polynomial(names, square, is_single(x) ? kSingleTanh : kDoubleTanh) + size;
  const Expr result = with_sign(Halide::select(strict::less(number(x, 0.5625), size), large, small), sign_bit(x));
  return names.around(Halide::select(strict::is_nan(x), x, result));
}

namespace {

// e^|x| / 2 where that is a normal number.
Expr normal_half_power(Names& names, const Expr& size) {
  const Reduced reduced = reduce_unbiased(names, Base::E, size, -1);
  return names(scaled_normal(fraction(names, reduced.r), reduced));
}

Expr is_moderate(const Expr& size) { return strict::less(size, number(size, is_single(size) ? 88 : 709)); }

}  // namespace

// With x = n ln 2 + r, (2^n - 2^-n) / 2 cosh(r) + (2^n + 2^-n) / 2 sinh(r): near 0, sinh(r) alone.
Expr sinh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), size = names(magnitude(x));
  const Reduced reduced = reduce_unbiased(names, Base::E, size, -1);
  const Expr &r = reduced.r, power = names(power_of_two(reduced));
  const int digits = is_single(x) ? 23 : 52;
  const uint64_t twice_bias = is_single(x) ? 252 : 2044;  // and less 2: the halves' product is 1/4
  const Expr inverse = names(float_of(word(x, twice_bias << digits) - bits_of(power)));
  const Expr square = names(strict::mul(r, r)), difference = names(strict::sub(power, inverse));
  const Expr cosine = strict::mul(square, horner(square, is_single(x) ? kSingleCosine : kDoubleCosine));
  const Expr sine = names(strict::mul(r, square) * horner(square, is_single(x) ? kSingleSine : kDoubleSine) + r);
  const Expr other = names(strict::mul(difference, cosine));
  // Both products of a power of 2 are exact.
  const Expr portable = strict::add(strict::mul(power, sine), strict::add(strict::mul(inverse, sine), other));
  const Expr rest = where_fused(fma(strict::add(power, inverse), sine, other), portable);
  const Expr result = float_of(bits_of(strict::add(difference, rest)) | sign_bit(x));
  // The inverse is not subnormal.
  const Expr is_usual = strict::less(size, number(x, is_single(x) ? 86 : 708));
  return names.around(usually(result, !is_usual, "sinh", {x}));
}

Expr rare_sinh(const std::vector<Expr>& arguments) {
  Names names;
  const Expr x = names(arguments[0]);
  return names.around(Halide::select(strict::is_nan(x), x, with_sign(half_power(names, x), sign_bit(x))));
}

Expr cosh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), size = names(magnitude(x)), half = normal_half_power(names, size);
  const Expr result = strict::add(half, strict::div(number(x, 0.25), half));
  return names.around(usually(result, !is_moderate(size), "cosh", {x}));
}

Expr rare_cosh(const std::vector<Expr>& arguments) {
  Names names;
  const Expr x = names(arguments[0]);
  return names.around(Halide::select(strict::is_nan(x), x, half_power(names, x)));
}

}  // namespace tile_tune::codegen::functions
