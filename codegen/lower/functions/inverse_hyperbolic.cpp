// All three are log(1 + z) of a z that is exact to a bit or two and never cancels; beyond 2^13 (f64: 2^28), asinh and
// acosh are log(2 x).
#include <limits>

#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/logarithms.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Expr is_large(Names& names, const Expr& size) {
  return names(strict::less(number(size, is_single(size) ? 0x1p13 : 0x1p28), size));
}

// log(1 + z), and log(2 z) where z is large.
Expr logarithm_of_sum(Names& names, const Pair& z, const Expr& large) {
  const Logarithmic parts = split_sum(names, z, large);
  const Expr more = Halide::select(large, number(z.high, 1), number(z.high, 0));
  return logarithm(names, {names(strict::add(parts.e, more)), parts.f, parts.rest});
}

}  // namespace

// z = x + x^2 / (1 + sqrt(1 + x^2))
Expr asinh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), one = number(x, 1);
  const Expr size = names(magnitude(x)), large = is_large(names, size);
  const Expr square = names(strict::mul(size, size));
  const Expr root = Halide::sqrt(strict::add(square, one));
  const Expr z = strict::add(size, strict::div(square, strict::add(root, one)));
  const Expr result =
      with_sign(logarithm_of_sum(names, {names(Halide::select(large, size, z)), Expr()}, large), sign_bit(x));
  const Expr is_usual = is_within(size, is_single(x) ? 0x1p-13 : 0x1p-27, kInfinity);
  return names.around(Halide::select(is_usual, result, x));
}

// z = t + sqrt(2 t + t^2) with t = x - 1
Expr acosh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), large = is_large(names, x);
  const Expr t = names(strict::sub(x, number(x, 1)));
  const Expr root = names(Halide::sqrt(strict::add(strict::mul(t, number(x, 2)), strict::mul(t, t))));
  const Pair z = fast_two_sum(names, root, t);
  const Expr result = logarithm_of_sum(names, {names(Halide::select(large, x, z.high)), z.low}, large);
  const Expr is_usual = is_within(x, 1, kInfinity);
  return names.around(
      Halide::select(is_usual, result, Halide::select(strict::less(x, number(x, 1)), not_a_number(x), x)));
}

// Half of log(1 + z), z = 2 |x| / (1 - |x|) < 2^54, which is 2 |x| + 2 |x|^2 / (1 - |x|).
Expr atanh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), one = number(x, 1);
  const Expr size = names(magnitude(x)), twice = names(strict::add(size, size));
  const Expr is_small = names(strict::less(size, number(x, 0.5)));
  const Expr dividend = Halide::select(is_small, strict::mul(twice, size), twice);
  const Expr quotient = strict::div(dividend, strict::sub(one, size));
  const Expr z = names(strict::add(Halide::select(is_small, twice, number(x, 0)), quotient));
  const Expr sign = names(sign_bit(x));
  const Expr half = logarithm(names, split_sum(names, z, Halide::Internal::const_false())) * number(x, 0.5);
  const Expr is_usual = is_within(size, is_single(x) ? 0x1p-13 : 0x1p-27, 1);
  const Expr is_end = strict::equal(size, one), is_beyond = strict::less(one, size);
  const Expr other =
      Halide::select(is_end, with_sign(infinity(x), sign), Halide::select(is_beyond, not_a_number(x), x));
  return names.around(Halide::select(is_usual, with_sign(half, sign), other));
}

}  // namespace tile_tune::codegen::functions
