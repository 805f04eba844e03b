// What C has beside its functions: copysign, fdim and hypot.
#include "codegen/lower/functions/arithmetic.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {

using Halide::Expr;

Expr copysign(const Expr& x, const Expr& y) {
  return float_of((bits_of(x) & ~word(x, uint64_t{1} << (x.type().bits() - 1))) | sign_bit(y));
}

Expr fdim(const Expr& first, const Expr& second) {
  Names name;
  const Expr x = name(first), y = name(second);
  return name.around(Halide::select(strict::less(x, y) || strict::equal(x, y), number(x, 0), strict::sub(x, y)));
}

Expr hypot(const Expr& first, const Expr& second) {
  Names name;
  const Expr x = name(first), y = name(second);
  const Expr sum = name(x * x + name(strict::mul(y, y)));
  // Neither square has overflowed, nor has one that counts lost bits.
  const Expr is_usual = is_within(sum, is_single(x) ? 0x1p-80 : 0x1p-800, is_single(x) ? 0x1p126 : 0x1p1022);
  return name.around(usually(square_root(sum), !is_usual, "hypot", {x, y}));
}

// Of numbers scaled so that the larger one's square is a normal number.
Expr rare_hypot(const std::vector<Expr>& arguments) {
  Names name;
  const Expr x = name(magnitude(arguments[0])), y = name(magnitude(arguments[1]));
  const Expr larger = name(Halide::select(strict::less(x, y), y, x));
  const bool single = is_single(x);
  const double large = single ? 0x1p60 : 0x1p500, small = single ? 0x1p-40 : 0x1p-400,
               scale = single ? 0x1p90 : 0x1p600;
  const Expr is_large = name(strict::less(number(x, large), larger)),
             is_small = name(strict::less(larger, number(x, small)));
  const auto of = [&](double above, double below) {
    return name(Halide::select(is_large, number(x, above), is_small, number(x, below), number(x, 1)));
  };
  const Expr by = of(1 / scale, scale), back = of(scale, 1 / scale);
  const Expr a = name(strict::mul(x, by)), b = name(strict::mul(y, by));
  const Expr root = square_root(strict::add(strict::mul(a, a), strict::mul(b, b)));
  const Expr is_infinite = strict::equal(x, infinity(x)) || strict::equal(y, infinity(x));
  return name.around(Halide::select(is_infinite, infinity(x), strict::mul(root, back)));
}

Expr truncated(const Expr& argument) {
  Names name;
  const Expr x = name(argument), bits = name(bits_of(x));
  const int digits = is_single(x) ? 23 : 52, bias = is_single(x) ? 127 : 1023;
  const Expr exponent = name((bits << word(x, 1)) >> word(x, digits + 1));
  const Expr is_below = exponent < word(x, bias), is_whole = exponent >= word(x, bias + digits);
  const Expr shift = Halide::select(is_below || is_whole, word(x, 0), exponent - word(x, bias));
  const Expr kept = bits & ~(word(x, (uint64_t{1} << digits) - 1) >> shift);
  return name.around(float_of(Halide::select(is_below, sign_bit(x), is_whole, bits, kept)));
}

Expr floored(const Expr& argument) {
  Names name;
  const Expr x = name(argument), whole = name(truncated(x)), sign = name(sign_bit(x));
  const Expr is_between = bits_of(whole) != bits_of(x) && sign != word(x, 0);
  return name.around(Halide::select(is_between, strict::sub(whole, number(x, 1)), whole));
}

Expr ceiled(const Expr& argument) {
  Names name;
  const Expr flip = word(argument, uint64_t{1} << (argument.type().bits() - 1));
  return name.around(with_sign(floored(name(with_sign(argument, flip))), flip));
}

}  // namespace tile_tune::codegen::functions
