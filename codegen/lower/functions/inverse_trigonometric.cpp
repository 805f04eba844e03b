// asin, acos, atan and atan2: polynomials of least relative error, within 1/2, and what the functions of other arguments
// are by those.
#include <numbers>

#include "codegen/lower/functions/arithmetic.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// asin(x) = x + x^3 p(x^2), atan(x) likewise.
struct Form {
  std::vector<double> sine, tangent;
};

const Form kSingle{{0x1.5555c8p-3, 0x1.3301fep-4, 0x1.747cbep-5, 0x1.8c30b4p-6, 0x1.596a7ep-5},
                   {-0x1.555512p-2, 0x1.997b1ap-3, -0x1.224b5p-3, 0x1.a01002p-4, -0x1.a42accp-5}};

const Form kDouble{
    {0x1.555555555539p-3, 0x1.333333336e833p-4, 0x1.6db6db4277f8cp-5, 0x1.f1c72c39efa29p-6, 0x1.6e89f4258416bp-6,
     0x1.1c6be3644bfc8p-6, 0x1.c6fd9c5da1f2bp-7, 0x1.8ec401fcb1ec8p-7, 0x1.abc60b05d2f52p-8, 0x1.3ffb56c5196c1p-6,
     -0x1.09de101fe02dap-6, 0x1.05714c02519cap-5},
    {-0x1.5555555555516p-2, 0x1.9999999991142p-3, -0x1.249249215de3ap-3, 0x1.c71c7090e8e16p-4, -0x1.745cf4cb37e7cp-4,
     0x1.3b113dc13050cp-4, -0x1.10f31f1c3965bp-4, 0x1.dfe977b0cbcecp-5, -0x1.a398647a3eb1dp-5, 0x1.56f5bee3d79d6p-5,
     -0x1.c17fb25de2f2fp-6, 0x1.4b83d65ec7b98p-7}};

const Form& form_of(const Expr& x) { return is_single(x) ? kSingle : kDouble; }

// pi / 2 as a number of the type, and what is left of it.
Pair half_pi(const Expr& like) {
  if (is_single(like)) return {number(like, 0x1.921fb6p0), number(like, -0x1.777a5cp-25)};
  return {number(like, 0x1.921fb54442d18p0), number(like, 0x1.1a62633145c07p-54)};
}

Expr choose(const Expr& condition, const Expr& a, const Expr& b) { return Halide::select(condition, a, b); }

// x, or 0: not of floats, of which a choice takes for granted that neither NaN nor infinity occurs.
Expr where(const Expr& condition, const Expr& x) {
  return float_of(Halide::select(condition, bits_of(x), word(x, 0)));
}

// The angle of y / x, both of no sign, is an eighth of a turn for each of the conditions y > x / 2 and y > 2 x, and the
// angle of a quotient within 1/2: y / x, (y - x) / (y + x) or -x / y.
struct Octants {
  Expr is_steep, is_steepest, above, below;
};
Octants octants_of(Names& name, const Expr& y, const Expr& x, const Expr& is_steep, const Expr& is_steepest) {
  const Expr steep = name(is_steep), steepest = name(is_steepest);
  return {steep, steepest, strict::sub(where(!steepest, y), where(steep, x)),
          name(strict::add(where(steep, y), where(!steepest, x)))};
}

// atan(t) and a multiple of pi / 4 that is given in two words. The first sum does not wait for the polynomial.
Expr sum_of(Names& name, const Expr& t, const Pair& multiple) {
  const Expr square = name(t * t), cube = name(strict::mul(t, square));
  return strict::add(strict::add(multiple.high, t), cube * polynomial(name, square, form_of(t).tangent) + multiple.low);
}

// The multiple of pi / 4, and what is left of it.
Expr eighths_of(Names& name, const Octants& of) {
  const Expr eighth = number(of.above, std::numbers::pi / 4);
  return name(strict::add(where(of.is_steep, eighth), where(of.is_steepest, eighth)));
}
Expr low_of(Names& name, const Expr& multiple) {
  const double of_single = -0x1.777a5cp-25 / 0x1.921fb6p0, of_double = 0x1.1a62633145c07p-54 / 0x1.921fb54442d18p0;
  return name(multiple * number(multiple, is_single(multiple) ? of_single : of_double));
}

}  // namespace

Expr atan(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x)), one = number(x, 1);
  const Octants of = octants_of(name, size, one, strict::less(number(x, 0.5), size), strict::less(number(x, 2), size));
  const Expr multiple = eighths_of(name, of), quotient = name(strict::div(of.above, of.below));
  return name.around(with_sign(sum_of(name, quotient, {multiple, low_of(name, multiple)}), sign_bit(x)));
}

namespace {

// Where x is negative, pi less the angle of its absolute value.
Expr angle_of(Names& name, const Octants& of, const Expr& y, const Expr& x) {
  const Expr turn = name(sign_bit(x)), half_turn = name(where(turn != word(x, 0), number(x, std::numbers::pi)));
  const Expr multiple = name(strict::add(half_turn, with_sign(eighths_of(name, of), turn)));
  const Expr quotient = name(with_sign(strict::div(of.above, of.below), turn));
  return with_sign(sum_of(name, quotient, {multiple, low_of(name, multiple)}), sign_bit(y));
}

Octants octants_of_both(Names& name, const Expr& height, const Expr& width) {
  return octants_of(name, height, width, strict::less(width, strict::add(height, height)),
                    strict::less(strict::add(width, width), height));
}

}  // namespace

// The divisor is the larger one, or less than twice as large.
Expr atan2(const Expr& opposite, const Expr& adjacent) {
  Names name;
  const Expr y = name(opposite), x = name(adjacent);
  const Octants of = octants_of_both(name, name(magnitude(y)), name(magnitude(x)));
  const Expr is_usual = is_within(of.below, is_single(x) ? 0x1p-126 : 0x1p-1022, is_single(x) ? 0x1p127 : 0x1p1023);
  return name.around(usually(angle_of(name, of, y, x), !is_usual, "atan2", {y, x}));
}

// 0 / 0 is to be 0, and infinity / infinity 1.
Expr rare_atan2(const std::vector<Expr>& arguments) {
  Names name;
  const Expr &y = arguments[0], &x = arguments[1], one = number(x, 1);
  const Expr height = name(magnitude(y)), width = name(magnitude(x));
  const Expr are_equal = name(strict::equal(width, height)), is_zero = name(are_equal && strict::equal(width, number(x, 0)));
  const Expr both_infinite = name(are_equal && strict::equal(width, infinity(x)));
  // No sum overflows, and no ratio that counts loses bits.
  const Expr is_large = strict::less(one, height) || strict::less(one, width);
  const double least = is_single(x) ? 0x1p-64 : 0x1p-512;
  const Expr scale = name(Halide::select(is_large, number(x, least), number(x, 1 / least)));
  const auto scaled = [&](const Expr& size, const Expr& is_one) {
    return name(float_of(Halide::select(is_one, bits_of(one), bits_of(strict::mul(size, scale)))));
  };
  const Octants of = octants_of_both(name, scaled(height, both_infinite), scaled(width, both_infinite || is_zero));
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
