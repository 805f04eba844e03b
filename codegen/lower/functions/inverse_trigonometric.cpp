// asin, acos, atan and atan2: polynomials of least relative error, within 1/2 for asin and 1 for atan, and what the
// functions of other arguments are by those.
#include "codegen/lower/functions/arithmetic.h"
#include "codegen/lower/functions/functions.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// asin(x) = x + x^3 p(x^2), atan(x) likewise.
struct Form {
  std::vector<double> sine, tangent;
};

const Form kSingle{{0x1.5555c8p-3, 0x1.3301fep-4, 0x1.747cbep-5, 0x1.8c30b4p-6, 0x1.596a7ep-5},
                   {-0x1.55553ep-2, 0x1.9991ecp-3, -0x1.24211ap-3, 0x1.c0946cp-4, -0x1.5825f2p-4, 0x1.da9c2ep-5,
                    -0x1.fe7d24p-6, 0x1.6551e2p-7, -0x1.d5a1aap-10}};

const Form kDouble{
    {0x1.555555555539p-3, 0x1.333333336e833p-4, 0x1.6db6db4277f8cp-5, 0x1.f1c72c39efa29p-6, 0x1.6e89f4258416bp-6,
     0x1.1c6be3644bfc8p-6, 0x1.c6fd9c5da1f2bp-7, 0x1.8ec401fcb1ec8p-7, 0x1.abc60b05d2f52p-8, 0x1.3ffb56c5196c1p-6,
     -0x1.09de101fe02dap-6, 0x1.05714c02519cap-5},
    {-0x1.555555555544cp-2, 0x1.999999998411p-3, -0x1.2492491fa2135p-3, 0x1.c71c709e19f6ap-4, -0x1.745d02310537cp-4,
     0x1.3b12b2e8e2d49p-4, -0x1.11089d02de0f5p-4, 0x1.e1781735b8a31p-5, -0x1.ad32ba4e0d1bep-5, 0x1.7ee3f62d7aa55p-5,
     -0x1.4f4521ca58d07p-5, 0x1.1715db01a0e8ep-5, -0x1.a726a91b7190fp-6, 0x1.162c3d98154c6p-6, -0x1.2cf76bf2540fcp-7,
     0x1.f96cc734beb9bp-9, -0x1.312a3f0e71ebep-10, 0x1.d3bb114143b65p-13, -0x1.53e5c943fcb72p-16}};

const Form& form_of(const Expr& x) { return is_single(x) ? kSingle : kDouble; }

// x + x^3 p(x^2)
Expr odd_polynomial(Names& name, const Expr& x, const std::vector<double>& coefficients) {
  const Expr square = name(x * x), cube = name(strict::mul(x, square));
  return name(cube * polynomial(name, square, coefficients) + x);
}

// pi / 2 as a number of the type, and what is left of it.
Pair half_pi(const Expr& like) {
  if (is_single(like)) return {number(like, 0x1.921fb6p0), number(like, -0x1.777a5cp-25)};
  return {number(like, 0x1.921fb54442d18p0), number(like, 0x1.1a62633145c07p-54)};
}

Expr choose(const Expr& condition, const Expr& a, const Expr& b) { return Halide::select(condition, a, b); }

// The angle of |y| / |x|, where the names say which is larger and whether x is negative: a sum of at most pi and the
// angle of the smaller one over the larger.
Expr angle(Names& name, const Expr& y, const Expr& x, const Expr& is_steep, const Expr& is_left) {
  const Expr small = choose(is_steep, x, y), large = choose(is_steep, y, x);
  const Expr tangent = odd_polynomial(name, name(strict::div(small, large)), form_of(x).tangent);
  if (!is_left.defined()) {
    const Expr turned = strict::sub(half_pi(x).high, strict::sub(tangent, half_pi(x).low));
    return name(choose(is_steep, turned, tangent));
  }
  const Expr zero = number(x, 0);
  const Expr turns = name(choose(is_steep, number(x, 1), choose(is_left, number(x, 2), zero)));
  const Expr part = choose(is_steep != is_left, number(x, -1), number(x, 1));
  const Expr rest = strict::add(strict::mul(tangent, part), strict::mul(turns, half_pi(x).low));
  return name(strict::add(strict::mul(turns, half_pi(x).high), rest));
}

}  // namespace

Expr atan(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x)), one = number(x, 1);
  const Expr is_steep = name(strict::less(one, size));
  return name.around(with_sign(angle(name, size, one, is_steep, Expr()), sign_bit(x)));
}

Expr atan2(const Expr& opposite, const Expr& adjacent) {
  Names name;
  const Expr y = name(opposite), x = name(adjacent), zero = number(y, 0), one = number(y, 1);
  const Expr height = name(magnitude(y)), width = name(magnitude(x));
  const Expr is_steep = name(strict::less(width, height));
  const Expr is_left = name(sign_bit(x) != word(x, 0));
  // 0 / 0 is to be 0, and infinity / infinity 1.
  const Expr both_infinite = name(strict::equal(width, height) && strict::equal(width, infinity(x)));
  const Expr no_zero = choose(strict::equal(strict::add(width, height), zero), one, width);
  const Expr result = angle(name, name(choose(both_infinite, one, height)), name(choose(both_infinite, one, no_zero)),
                            is_steep, is_left);
  return name.around(with_sign(result, sign_bit(y)));
}

namespace {

// asin |x| is a + a tail, or pi / 2 less that where |x| > 1/2: then a is twice the root of half of what is missing to
// 1, and the square of half of a is known before the root.
struct Folded {
  Expr is_large, a, tail;
};
Folded folded_asin(Names& name, const Expr& size) {
  const Expr missing = name(strict::sub(number(size, 1), size));
  const Expr half = name(strict::mul(missing, number(size, 0.5))), square = name(strict::mul(size, size));
  const Expr least = name(Halide::select(strict::less(half, square), half, square));
  const Expr is_large = name(strict::less(number(size, 0.5), size));
  const Expr root = square_root(name(strict::add(missing, missing)));
  return {is_large, name(choose(is_large, root, size)),
          name(strict::mul(least, polynomial(name, least, form_of(size).sine)))};
}

}  // namespace

Expr asin(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x)), zero = number(x, 0);
  const auto [is_large, a, tail] = folded_asin(name, size);
  const Expr part = name(choose(is_large, strict::sub(zero, a), a));
  const Expr from = name(choose(is_large, half_pi(x).high, zero)), lost = choose(is_large, half_pi(x).low, zero);
  const Expr sum = name(strict::add(from, part)), error = strict::add(strict::sub(from, sum), part);
  return name.around(with_sign(strict::add(sum, strict::add(error, part * tail + lost)), sign_bit(x)));
}

Expr acos(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x)), zero = number(x, 0);
  const auto [is_large, a, tail] = folded_asin(name, size);
  // LLVM would make a product with 1 + tail of the sum.
  const Expr part = name(where_fused(fma(a, tail, a), strict::add(a, strict::mul(a, tail))));
  const Expr is_left = name(strict::less(x, zero));
  // pi / 2 - asin(x), 2 asin or pi - 2 asin.
  const Expr turns = name(choose(is_large, choose(is_left, number(x, 2), zero), number(x, 1)));
  const Expr signed_part = choose(is_large == is_left, strict::sub(zero, part), part);
  const Expr rest = strict::add(strict::mul(turns, half_pi(x).low), signed_part);
  return name.around(strict::add(strict::mul(turns, half_pi(x).high), rest));
}

}  // namespace tile_tune::codegen::functions
