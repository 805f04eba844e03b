#include "codegen/lower/functions/exponentials.h"
#include "codegen/lower/functions/functions.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// P, where sinh(x) = x + x^3 P(x^2) for |x| <= 1: within 0.03 ulp (f64 0.02 ulp).
const std::vector<double> kSingleSinh{0x1.555556p-3, 0x1.1110c6p-7, 0x1.a03554p-13, 0x1.725244p-19};
const std::vector<double> kDoubleSinh{0x1.5555555555555p-3,  0x1.1111111111198p-7,  0x1.a01a01a00b9c9p-13,
                                      0x1.71de3a5e9a965p-19, 0x1.ae6453382e734p-26, 0x1.612233a602977p-33,
                                      0x1.b260fcaa559cdp-41};

// e^|x| / 2, infinite only where e^|x| / 2 is beyond the type.
Expr half_power(Names& names, const Expr& x) {
  return names(scaled_power(names, Base::E, bounded_magnitude(names, x, is_single(x) ? 91 : 712), -1));
}

}  // namespace

// q = t / (t + 2) with t = e^(2|x|) - 1, from where the result is 1 for a fixed t.
Expr tanh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), two = number(x, 2);
  const Expr t = names(power_less_one(names, bounded_magnitude(names, x, is_single(x) ? 10 : 20) * two));
  const Expr divisor = names(strict::add(t, two));
  const Expr q = names(strict::div(t, divisor));
  // Half of what rounding the divisor left out, times 1 - q, which is 2 / divisor.
  const Expr rest = strict::sub(t, strict::sub(divisor, two)) * number(x, 0.5);
  // No more than 1: near it, 1 - q has few bits left.
  const Expr corrected = Halide::min(q - q * (number(x, 1) - q) * rest, number(x, 1));
  const Expr result = with_sign(corrected, sign_bit(x));
  return names.around(Halide::select(strict::is_nan(x), x, result));
}

Expr sinh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), half = half_power(names, x);
  const Expr large = with_sign(strict::sub(half, strict::div(number(x, 0.25), half)), sign_bit(x));
  const Expr square = names(x * x);
  const Expr small = square * x * horner(square, is_single(x) ? kSingleSinh : kDoubleSinh) + x;
  const Expr is_large = strict::less(number(x, 1), magnitude(x));
  // A sum of zeros need not keep their sign; x is NaN here or so small that it is the result.
  const Expr is_tiny = !strict::less(number(x, is_single(x) ? 0x1p-14 : 0x1p-28), magnitude(x));
  return names.around(Halide::select(is_large, large, Halide::select(is_tiny, x, small)));
}

Expr cosh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), half = half_power(names, x);
  return names.around(Halide::select(strict::is_nan(x), x, strict::add(half, strict::div(number(x, 0.25), half))));
}

}  // namespace tile_tune::codegen::functions
