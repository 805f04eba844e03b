// asinh and acosh are log(1 + z) of a z that is exact to a bit or two and never cancels; beyond 2^13 (f64: 2^28) they
// are log(2 x).
#include <limits>

#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/logarithms.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

double large(const Expr& x) { return is_single(x) ? 0x1p13 : 0x1p28; }

// log(2 x) of a large x, infinity and NaN as they are.
Expr logarithm_of_twice(Names& names, const Expr& x) {
  const auto [e, f, none] = split(names, x);
  const Expr result = logarithm(names, {names(strict::add(e, number(x, 1))), f, none});
  return Halide::select(strict::less(x, infinity(x)), result, x);
}

}  // namespace

// z = x + x^2 / (1 + sqrt(1 + x^2))
Expr asinh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), one = number(x, 1), size = names(magnitude(x)), square = names(size * size);
  const Expr root = square_root(square + one);
  const Expr z = names(strict::add(size, strict::div(square, strict::add(root, one))));
  const Expr result = with_sign(logarithm(names, split_sum(names, z)), sign_bit(x));
  return names.around(usually(result, !strict::less(size, number(x, large(x))), "asinh", {x}));
}

Expr rare_asinh(const std::vector<Expr>& arguments) {
  Names names;
  const Expr x = names(arguments[0]);
  return names.around(with_sign(logarithm_of_twice(names, names(magnitude(x))), sign_bit(x)));
}

// z = t + sqrt(2 t + t^2) with t = x - 1
Expr acosh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), t = names(strict::sub(x, number(x, 1)));
  const Expr root = names(square_root(strict::add(strict::add(t, t), strict::mul(t, t))));
  const Expr result = logarithm(names, split_sum(names, fast_two_sum(names, root, t)));
  return names.around(usually(result, !is_within(x, 1, large(x)), "acosh", {x}));
}

Expr rare_acosh(const std::vector<Expr>& arguments) {
  Names names;
  const Expr x = names(arguments[0]);
  return names.around(Halide::select(strict::less(x, number(x, 1)), not_a_number(x), logarithm_of_twice(names, x)));
}

// Half of log((1 + x) / (1 - x)): of 2^e (1 + s) / (1 - s), where s is exactly x if e is 0. Which e is near the
// quotient's logarithm, the bits of its two parts tell well enough: less than 3/4 are 0, so that no sum cancels.
Expr atanh(const Expr& argument) {
  Names names;
  const Expr x = names(argument), one = number(x, 1), size = names(magnitude(x));
  const int significand = is_single(x) ? 23 : 52;
  const Expr bits = bits_of(strict::add(one, size)) - bits_of(strict::sub(one, size));
  const Halide::Type integer = x.type().with_code(halide_type_int);
  const uint64_t quarter = uint64_t{1} << (significand - 2);
  const Expr apart = names(bits + word(x, quarter));
  const Expr power = names(float_of((apart & word(x, ~uint64_t{0} << significand)) + bits_of(one)));
  // (1 + x) - 2^e (1 - x) over their sum: the first of the differences is exact.
  const Expr part = names(strict::sub(strict::mul(power, size), strict::sub(power, one)));
  const Expr below = strict::add(strict::sub(number(x, 2), part), size);
  const Expr s = names(strict::div(strict::add(part, size), below));
  const Expr rest = area_rest(names, s);
  // e is between 0 and 32; f64 has no conversion from integers below AVX-512, but a number's last bits may be one.
  const Expr e =
      names(is_single(x) ? Halide::cast(x.type(), Halide::reinterpret(integer, apart) >> significand)
                         : strict::sub(float_of((apart >> word(x, significand)) | bits_of(number(x, 0x1p52))),
                                       number(x, 0x1p52)));
  const double ln2_high = is_single(x) ? 0x1.62e4p-1 : 0x1.62e42fefap-1;
  const double ln2_low = is_single(x) ? 0x1.7f7d1cp-20 : 0x1.cf79abc9e3b3ap-40;
  const Expr result = e * number(x, ln2_high / 2) + strict::add(s, rest + e * number(x, ln2_low / 2));
  return names.around(usually(with_sign(result, sign_bit(x)),
                              !strict::less(size, number(x, is_single(x) ? 1 - 0x1p-16 : 1 - 0x1p-32)), "atanh", {x}));
}

Expr rare_atanh(const std::vector<Expr>& arguments) {
  Names names;
  const Expr x = names(arguments[0]), size = names(magnitude(x)), one = number(x, 1);
  const Expr quotient = names(strict::div(strict::add(one, size), strict::sub(one, size)));
  const Expr result = with_sign(logarithm(names, split(names, quotient)) * number(x, 0.5), sign_bit(x));
  const Expr is_end = strict::equal(size, one), infinite = with_sign(infinity(x), sign_bit(x));
  return names.around(
      Halide::select(strict::less(size, one), result, Halide::select(is_end, infinite, not_a_number(x))));
}

}  // namespace tile_tune::codegen::functions
