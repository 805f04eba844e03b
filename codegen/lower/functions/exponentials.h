// What the exponential functions, sigmoid and the hyperbolic functions share.
#pragma once

#include "codegen/lower/functions/arithmetic.h"

namespace tile_tune::codegen::functions {

/// b^x = 2^n * e^r, |r| <= ln 2 / 2, for b = 2, e or 10, or 2^n * b^r for b = 2 or 10. `shifted` is n + 2 * bias in its
/// last bits, or n + more; for b = e, r is high - low rounded, and high is exact.
struct Reduced {
  Halide::Expr shifted, r, high, low;
};
enum class Base { Two, E, Ten };
Reduced reduce(Names& names, Base base, const Halide::Expr& x);
Reduced reduce_unbiased(Names& names, Base base, const Halide::Expr& x, int more = 0);

/// 2^r or 10^r of reduce_unbiased().
Halide::Expr power_of_rest(Names& names, Base base, const Halide::Expr& r);

/// q(r), where e^r = 1 + r + r^2 q(r).
Halide::Expr exponential_tail(Names& names, const Halide::Expr& r);

/// e^r, and e^r - 1, of |r| <= ln 2 / 2.
Halide::Expr fraction(Names& names, const Halide::Expr& r);
Halide::Expr fraction_less_one(Names& names, const Halide::Expr& r);

/// (e^x - 1) * 2^more, where 2^(n + more) is a normal number.
Halide::Expr power_less_one(Names& names, const Halide::Expr& x, int more = 0);

/// value * 2^(n + more), rounded once where that is subnormal, infinite where it is beyond the type.
Halide::Expr scaled(Names& names, const Halide::Expr& value, const Reduced& reduced, int more = 0);

/// value * 2^(n + more) of reduce_unbiased(), where both this and `value` are normal numbers; 2^(n + more) alone.
Halide::Expr scaled_normal(const Halide::Expr& value, const Reduced& reduced);
Halide::Expr power_of_two(const Reduced& reduced);

/// b^x * 2^more for x that is neither NaN nor far outside of where this is a number of the type.
Halide::Expr scaled_power(Names& names, Base base, const Halide::Expr& x, int more = 0);

/// e^(2x) where that is a normal number, with an error of 4 ulp at most where it is large.
Halide::Expr power_of_twice(Names& names, const Halide::Expr& x);

/// x, or the nearer of the two ends; the upper one for NaN.
Halide::Expr clamped(Names& names, const Halide::Expr& x, double least, double most);
/// |x|, or `most` where that is less or x is NaN.
Halide::Expr bounded_magnitude(Names& names, const Halide::Expr& x, double most);

}  // namespace tile_tune::codegen::functions
