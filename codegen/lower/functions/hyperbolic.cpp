#include "codegen/lower/functions/exponentials.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// P, where sinh(x) = x + x^3 P(x^2) for |x| <= 1: within 0.03 ulp (f64 0.02 ulp).
const std::vector<double> kSingleSinh{0x1.555556p-3, 0x1.1110c6p-7, 0x1.a03554p-13, 0x1.725244p-19};
const std::vector<double> kDoubleSinh{0x1.5555555555555p-3,  0x1.1111111111198p-7,  0x1.a01a01a00b9c9p-13,
                                      0x1.71de3a5e9a965p-19, 0x1.ae6453382e734p-26, 0x1.612233a602977p-33,
                                      0x1.b260fcaa559cdp-41};

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

Expr sinh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), size = names(magnitude(x)), half = normal_half_power(names, size);
  const Expr large = strict::sub(half, strict::div(number(x, 0.25), half));
  const Expr square = names(size * size);
  const Expr small = square * size * polynomial(names, square, is_single(x) ? kSingleSinh : kDoubleSinh) + size;
  const Expr result = Halide::select(strict::less(number(x, 1), size), large, small);
  return names.around(usually(with_sign(result, sign_bit(x)), !is_moderate(size), "sinh", {x}));
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
