// fma: the instruction where the target has one, and else arithmetic that gives the same bits, by Boldo and Melquiond,
// "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd" (2008).
#include "codegen/lower/functions/arithmetic.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;
using strict::equal, strict::less, strict::mul, strict::sub;

Expr is_number(const Expr& x) { return less(magnitude(x), infinity(x)); }

// a + b, of the two floats next to it the one whose last bit is 1 unless it is one itself: what is rounded once more,
// to fewer bits, is then as if rounded once.
Expr odd_sum(Names& name, const Expr& a, const Expr& b) {
  const Pair sum = two_sum(name, a, b);
  const Expr bits = name(bits_of(sum.high)), one = word(a, 1), zero = number(a, 0);
  const Expr is_even = !equal(sum.low, zero) && (bits & one) == word(a, 0);
  const Expr away = less(sum.low, zero) == less(sum.high, zero);
  return name(float_of(Halide::select(is_even, Halide::select(away, bits + one, bits - one), bits)));
}

Expr fused_single(Names& name, const Expr& x, const Expr& y, const Expr& z) {
  const Expr product = name(mul(widened(name, x), widened(name, y)));
  return narrowed(name, odd_sum(name, product, widened(name, z)));
}

// significand * 2^exponent with |significand| in [1, 2), or 0; the exponent is an integer in f64.
struct Scaled {
  Expr significand, exponent;
};
Scaled scaled(Names& name, const Expr& x) {
  const Expr is_small = name(less(magnitude(x), number(x, 0x1p-1022)));
  const Expr bits = name(bits_of(Halide::select(is_small, mul(x, number(x, 0x1p54)), x)));
  const Expr biased = (bits >> word(x, 52)) & word(x, 0x7ff);
  const Expr real = sub(float_of(biased | word(x, 0x4330000000000000)), number(x, 0x1p52));
  const Expr one = float_of((bits & word(x, 0x800fffffffffffff)) | word(x, 0x3ff0000000000000));
  return {name(Halide::select(equal(x, number(x, 0)), x, one)),
          name(sub(real, Halide::select(is_small, number(x, 1023 + 54), number(x, 1023))))};
}

// 2^n of an integer in f64, a normal number.
Expr power(const Expr& n) {
  const Expr biased = bits_of(strict::add(n, number(n, 0x1p52 + 1023)));
  return float_of(biased << word(n, 52));
}

// Both parts of a significand have no more than half of its bits, the second one a sign (Veltkamp 1968; Dekker 1971).
Pair parts(Names& name, const Expr& x) {
  const Expr large = name(mul(x, number(x, is_single(x) ? 0x1.002p12 : 0x1.0000002p27)));
  const Expr high = name(sub(large, sub(large, x)));
  return {high, name(sub(x, high))};
}

Expr error_of(Names& name, const Expr& a, const Expr& b, const Expr& product) {
  const Pair x = parts(name, a), y = parts(name, b);
  const Expr first = sub(mul(x.high, y.high), product);
  const Expr second = strict::add(strict::add(first, mul(x.high, y.low)), mul(x.low, y.high));
  return strict::add(second, mul(x.low, y.low));
}

Expr fused_double(Names& name, const Expr& x, const Expr& y, const Expr& z) {
  // More bits apart than this, and the smaller one only tips the scales.
  const Expr most = number(x, 110), zero = number(x, 0);
  const Scaled a = scaled(name, x), b = scaled(name, y), c = scaled(name, z);
  const Expr of_product = name(strict::add(a.exponent, b.exponent));
  const Expr apart = name(Halide::select(equal(z, zero), zero, sub(c.exponent, of_product)));
  const Expr is_far = less(most, apart), is_low = less(apart, sub(zero, most));
  const Expr shift = name(Halide::select(is_far, most, is_low, sub(zero, most), apart));
  const Expr wanted = Halide::select(is_far, sub(c.exponent, most), of_product);
  const Expr exponent = name(Halide::select(less(wanted, number(x, -1300)), number(x, -1300), wanted));

  const Expr of_significands = name(mul(a.significand, b.significand));
  const Pair product{of_significands, name(error_of(name, a.significand, b.significand, of_significands))};
  const Pair low = two_sum(name, name(mul(c.significand, power(shift))), product.low);
  Pair high = two_sum(name, product.high, low.high);
  Expr rest = odd_sum(name, low.low, high.low);
  const Expr cancels = name(equal(high.high, zero));
  high.high = name(Halide::select(cancels, rest, high.high));
  rest = name(Halide::select(cancels, zero, rest));
  // A subnormal result has its last bit where it is added to the least normal number of its sign.
  const Expr to_least = sub(number(x, -1022), exponent);
  const Expr is_near = less(number(x, -1000), to_least) && less(to_least, number(x, 1000));
  const Expr least = name(power(to_least));
  const Expr is_subnormal = name(is_near && less(magnitude(high.high), least));
  const Expr place = name(Halide::select(is_subnormal, with_sign(least, sign_bit(high.high)), zero));
  const Pair placed = two_sum(name, place, high.high);
  const Expr sum = sub(strict::add(placed.high, odd_sum(name, placed.low, rest)), place);
  const Expr half = name(Halide::floor(mul(exponent, number(x, 0.5))));
  const Expr result = name(mul(mul(sum, power(half)), power(sub(exponent, half))));
  // What underflows keeps its sign.
  const Expr signed_result = float_of((bits_of(result) & word(x, ~uint64_t{0} >> 1)) | sign_bit(high.high));
  return Halide::select(equal(high.high, zero), zero, signed_result);
}

}  // namespace

Expr fma(const Expr& x, const Expr& y, const Expr& z) {
  // Less a zero: Halide lets LLVM take every operation for a free one where it sees no strict one before the last pass.
  return Halide::Internal::Call::make(x.type(), kFused, {x, y, strict::sub(z, number(z, 0))},
                                      Halide::Internal::Call::PureExtern);
}

Expr fused(const std::vector<Expr>& arguments) {
  Names name;
  const Expr x = name(arguments[0]), y = name(arguments[1]), z = name(arguments[2]), zero = number(x, 0);
  const Expr plain = name(strict::add(mul(x, y), z));
  const Expr usual = is_single(x) ? fused_single(name, x, y, z) : fused_double(name, x, y, z);
  const Expr is_plain = equal(x, zero) || equal(y, zero) || !is_number(x) || !is_number(y);
  return name.around(Halide::select(is_plain, plain, !is_number(z), z, usual));
}

Expr unfused_product_error(const std::vector<Expr>& arguments) {
  Names name;
  return name.around(error_of(name, name(arguments[0]), name(arguments[1]), name(arguments[2])));
}

}  // namespace tile_tune::codegen::functions
