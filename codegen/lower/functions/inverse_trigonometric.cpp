// asin, acos, atan and atan2: polynomials of least relative error, within 1/2, and what the functions of other
// arguments are by those.
#include <numbers>

#include "codegen/lower/functions/arithmetic.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// asin(x) = x + x^3 p(x^2), atan(x) likewise.
struct ArcForm {
  std::vector<double> sine, tangent;
};

const ArcForm kSingleArc{{0x1.5555c8p-3, 0x1.3301fep-4, 0x1.747cbep-5, 0x1.8c30b4p-6, 0x1.596a7ep-5},
                         {-0x1.555512p-2, 0x1.997b1ap-3, -0x1.224b5p-3, 0x1.a01002p-4, -0x1.a42accp-5}};

const ArcForm kDoubleArc{{0x1.555555555539p-3, 0x1.333333336e833p-4, 0x1.6db6db4277f8cp-5, 0x1.f1c72c39efa29p-6,
                          0x1.6e89f4258416bp-6, 0x1.1c6be3644bfc8p-6, 0x1.c6fd9c5da1f2bp-7, 0x1.8ec401fcb1ec8p-7,
                          0x1.abc60b05d2f52p-8, 0x1.3ffb56c5196c1p-6, -0x1.09de101fe02dap-6, 0x1.05714c02519cap-5},
                         {-0x1.5555555555516p-2, 0x1.9999999991142p-3, -0x1.249249215de3ap-3, 0x1.c71c7090e8e16p-4,
                          -0x1.745cf4cb37e7cp-4, 0x1.3b113dc13050cp-4, -0x1.10f31f1c3965bp-4, 0x1.dfe977b0cbcecp-5,
                          -0x1.a398647a3eb1dp-5, 0x1.56f5bee3d79d6p-5, -0x1.c17fb25de2f2fp-6, 0x1.4b83d65ec7b98p-7}};

const ArcForm& arc_form_of(const Expr& x) { return is_single(x) ? kSingleArc : kDoubleArc; }

// pi / 2 as a number of the type, and what is left of it.
Pair half_pi(const Expr& like) {
  if (is_single(like)) return {number(like, 0x1.921fb6p0), number(like, -0x1.777a5cp-25)};
  return {number(like, 0x1.921fb54442d18p0), number(like, 0x1.1a62633145c07p-54)};
}

Expr choose(const Expr& condition, const Expr& a, const Expr& b) { return Halide::select(condition, a, b); }

// x, or 0: not of floats, of which a choice takes for granted that neither NaN nor infinity occurs.
Expr where(const Expr& condition, const Expr& x) { return float_of(Halide::select(condition, bits_of(x), word(x, 0))); }

// A number near 1 and its angle: within 0.001 ulp of a float, and so is, within 0.12, what it lacks to pi.
struct Middle {
  double tangent, angle;
};
Middle middle_of(const Expr& like) {
  if (is_single(like)) return {0x1.00b41p0, 0x1.92d386p-1};
  return {0x1.000000663ac26p0, 0x1.921fb5aa7d93dp-1};
}

// The angle of y / x, both of no sign, is one of three and that of a quotient within 1/2: where y > x / 2, c being the
// middle's tangent, of (y - c x) / (c y + x), and where y > 2 x of -x / y. Without fused operations c is 1, with which
// products are exact, and the angle has a second word.
struct Octant {
  Expr angle, above, below;
};
Octant octant_of(Names& name, const Expr& y, const Expr& x, const Expr& is_steep, const Expr& is_steepest) {
  const Expr steep = name(is_steep), steepest = name(is_steepest), one = number(y, 1);
  const auto one_of = [&](double middle, double highest) {
    return strict::add(where(steep, number(y, middle)), where(steepest, number(y, highest - middle)));
  };
  const double half_pi = is_single(y) ? 0x1.921fb6p0 : 0x1.921fb54442d18p0;
  const auto [tangent, angle] = middle_of(y);
  // Of x and y c may be in the last quotient, too, but not where products with both are rounded.
  const Expr middle = where(steep, number(y, tangent));
  const Expr factor =
      Halide::Internal::is_const(x) ? middle : float_of(Halide::select(steepest, bits_of(one), bits_of(middle)));
  const Expr c = name(where_fused(factor, where(steep, one))), minus = with_sign(c, word(c, sign_mask(c)));
  const auto sum = [&](const Expr& a, const Expr& b, const Expr& rest) {
    const Expr most = name(where(!steepest, rest));
    return name(where_fused(fma(a, b, most), strict::add(most, strict::mul(a, b))));
  };
  return {name(where_fused(one_of(angle, half_pi), one_of(half_pi / 2, half_pi))), sum(minus, x, y), sum(c, y, x)};
}

// The first sum does not wait for the polynomial.
Expr with_angle_of(Names& name, const Expr& quotient, const Expr& angle) {
  const Expr square = name(quotient * quotient), cube = name(strict::mul(quotient, square));
  const Expr sum = name(strict::add(angle, quotient)),
             factor = name(polynomial(name, square, arc_form_of(sum).tangent));
  const double second_word =
      is_single(sum) ? -0x1.777a5cp-25 / 0x1.921fb6p0 : 0x1.1a62633145c07p-54 / 0x1.921fb54442d18p0;
  const Expr low = strict::mul(angle, number(angle, second_word));
  return where_fused(fma(cube, factor, sum), strict::add(sum, strict::add(strict::mul(cube, factor), low)));
}

}  // namespace

Expr atan(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x)), one = number(x, 1);
  const Octant of = octant_of(name, size, one, strict::less(number(x, 0.5), size), strict::less(number(x, 2), size));
  return name.around(with_sign(with_angle_of(name, name(strict::div(of.above, of.below)), of.angle), sign_bit(x)));
}

namespace {

// Where x is negative, pi less the angle of its absolute value.
Expr angle_of(Names& name, const Octant& of, const Expr& y, const Expr& x) {
  const Expr turn = name(sign_bit(x)), half_turn = where(turn != word(x, 0), number(x, std::numbers::pi));
  const Expr angle = strict::add(half_turn, with_sign(of.angle, turn));
  const Expr quotient = name(with_sign(strict::div(of.above, of.below), turn));
  return with_sign(with_angle_of(name, quotient, angle), sign_bit(y));
}

Octant octant_of_both(Names& name, const Expr& height, const Expr& width) {
  return octant_of(name, height, width, strict::less(width, strict::add(height, height)),
                   strict::less(strict::add(width, width), height));
}

}  // namespace

// The divisor is the larger one, or not three times as large.
Expr atan2(const Expr& opposite, const Expr& adjacent) {
  Names name;
  const Expr y = name(opposite), x = name(adjacent);
  const Octant of = octant_of_both(name, name(magnitude(y)), name(magnitude(x)));
  const Expr is_usual = is_within(of.below, is_single(x) ? 0x1p-124 : 0x1p-1020, is_single(x) ? 0x1p126 : 0x1p1022);
  return name.around(usually(angle_of(name, of, y, x), !is_usual, "atan2", {y, x}));
}

// 0 / 0 is to be 0, and infinity / infinity 1; by an infinity other numbers, but not NaN, are to be divided as 0 by 1.
Expr rare_atan2(const std::vector<Expr>& arguments) {
  Names name;
  const Expr &y = arguments[0], &x = arguments[1], zero = number(x, 0), one = number(x, 1), infinite = infinity(x);
  const Expr height = name(magnitude(y)), width = name(magnitude(x));
  const Expr is_high = name(strict::equal(height, infinite)), is_wide = name(strict::equal(width, infinite));
  // No sum overflows, and no ratio that counts loses bits.
  const Expr is_large = strict::less(one, height) || strict::less(one, width);
  const double least = is_single(x) ? 0x1p-64 : 0x1p-512;
  const Expr scale = name(Halide::select(is_large, number(x, least), number(x, 1 / least)));
  const auto scaled = [&](const Expr& size, const Expr& is_one, const Expr& is_other_infinite) {
    const Expr is_small = is_other_infinite && strict::less(size, infinite);
    const Expr finite = where(!is_small, strict::mul(size, scale));
    return name(float_of(Halide::select(is_one, bits_of(one), bits_of(finite))));
  };
  const Expr is_origin = strict::equal(height, zero) && strict::equal(width, zero);
  const Octant of =
      octant_of_both(name, scaled(height, is_high, is_wide), scaled(width, is_wide || is_origin, is_high));
  return name.around(angle_of(name, of, y, x));
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
          name(strict::mul(least, polynomial(name, least, arc_form_of(size).sine)))};
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
