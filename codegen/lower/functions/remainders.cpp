// fmod and the remainder of a floored quotient, exactly: long division of significands as integers, 50 bits of the
// quotient a step. A digit of it is a product with an inverse, wrong by less than 1, and the remainder is right in the
// lowest 64 bits whatever the quotient. f32 goes through f64, where no remainder is rounded.
#include "codegen/lower/functions/arithmetic.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

constexpr int kStep = 50;

// 1.5 * 2^52: added to a smaller number, it leaves the nearest integer in the last bits.
constexpr double kToInteger = 0x1.8p52;

// significand * 2^exponent, of a positive finite f64.
struct IntegerParts {
  Expr significand, exponent;
};
IntegerParts integer_parts(Names& name, const Expr& size) {
  const Expr is_small = name(strict::less(size, number(size, 0x1p-1022)));
  const Expr bits = name(bits_of(Halide::select(is_small, strict::mul(size, number(size, 0x1p54)), size)));
  const Expr bias = Halide::select(is_small, word(size, 1075 + 54), word(size, 1075));
  return {name((bits & word(size, 0xfffffffffffff)) | word(size, 0x10000000000000)),
          name((bits >> word(size, 52)) - bias)};
}

// An integer below 2^53 as f64: what is below 2^52 in the bits of 2^52 and more, the highest bit by itself.
Expr real(const Expr& word_of, const Expr& integer) {
  const Expr high = float_of((integer >> word(word_of, 32)) | word(word_of, 0x4530000000000000));  // 2^84 + high * 2^32
  const Expr low = float_of((integer & word(word_of, 0xffffffff)) | word(word_of, 0x4330000000000000));  // 2^52 + low
  return strict::add(strict::sub(high, number(word_of, 0x1.00000001p84)), low);
}

struct Divisor {
  Expr significand, inverse;
};

// rest * 2^shift modulo the divisor; `power` is 2^shift.
Expr step(Names& name, const Expr& like, const Expr& rest, const Divisor& divisor, const Expr& shift,
          const Expr& power) {
  const Expr ratio = strict::mul(strict::mul(real(like, rest), divisor.inverse), power);
  const Expr quotient = bits_of(strict::add(ratio, number(like, kToInteger))) - word(like, 0x4338000000000000);
  const Expr next = name((rest << shift) - quotient * divisor.significand);
  return name(Halide::select((next >> word(like, 63)) != word(like, 0), next + divisor.significand, next));
}

// |x| modulo |y| for positive finite ones, |x| >= |y|, in `steps` steps of 50 bits and one of the rest.
Expr remainder(Names& name, const Expr& x, const Expr& y, int steps) {
  const IntegerParts dividend = integer_parts(name, x), divisor = integer_parts(name, y);
  const Divisor by{divisor.significand, name(strict::div(number(x, 1), real(x, divisor.significand)))};
  Expr bits = name(dividend.exponent - divisor.exponent);
  Expr rest = name(Halide::select(dividend.significand < by.significand, dividend.significand,
                                  dividend.significand - by.significand));
  for (int k = 0; k < steps; ++k) {
    const Expr more = name(bits >= word(x, kStep));
    rest = name(Halide::select(more, step(name, x, rest, by, word(x, kStep), number(x, 0x1p50)), rest));
    bits = name(Halide::select(more, bits - word(x, kStep), bits));
  }
  const Expr power = float_of((bits + word(x, 1023)) << word(x, 52));
  rest = step(name, x, rest, by, bits & word(x, 63), power);
  // By two powers of two: neither has to be subnormal, and nothing is rounded.
  const Expr exponent = Halide::reinterpret(x.type().with_code(halide_type_int), divisor.exponent);
  const Expr half = name(exponent >> Halide::Internal::make_one(exponent.type()));
  const auto power_of = [&](const Expr& n) { return float_of((bits_of(n) + word(x, 1023)) << word(x, 52)); };
  return strict::mul(strict::mul(real(x, rest), power_of(half)), power_of(exponent - half));
}

}  // namespace

Expr rare_fmod(const std::vector<Expr>& arguments) {
  Names name;
  constexpr int kMostBits = 1024 + 1074;
  return name.around(remainder(name, name(arguments[0]), name(arguments[1]), kMostBits / kStep));
}

namespace {

// In f64 between two choices in the type itself: LLVM takes for granted that a conversion gives neither infinity nor
// NaN.
Expr fmod_of(Names& name, const Expr& x, const Expr& y) {
  const Halide::Type wide = x.type().with_bits(64);
  const Expr one = number(x, 1), size = name(magnitude(x)), by = name(magnitude(y));
  const Expr is_less = name(strict::less(size, by));
  const Expr is_invalid =
      name(!strict::less(size, infinity(x)) || strict::equal(by, number(x, 0)) || strict::is_nan(y));
  const Expr is_quotient = name(!(is_less || is_invalid));
  const Expr a = name(Halide::cast(wide, Halide::select(is_quotient, size, one)));
  const Expr b = name(Halide::cast(wide, Halide::select(is_quotient, by, one)));
  const Expr is_long = strict::less(strict::mul(b, number(b, 0x1p49)), a);
  const Expr usual = name(remainder(name, a, b, 0));
  const Expr rest = Halide::cast(x.type(), usually(usual, is_long, is_single(x) ? "fmod_single" : "fmod", {a, b}));
  const Expr result = with_sign(Halide::select(is_less, size, rest), sign_bit(x));
  return name(Halide::select(is_invalid, not_a_number(x), result));
}

}  // namespace

Expr rare_fmod_single(const std::vector<Expr>& arguments) {
  Names name;
  constexpr int kMostBits = 128 + 149;
  return name.around(remainder(name, name(arguments[0]), name(arguments[1]), kMostBits / kStep));
}

Expr fmod(const Expr& dividend, const Expr& divisor) {
  Names name;
  return name.around(fmod_of(name, name(dividend), name(divisor)));
}

// As the reference has it: a remainder of the other sign than the divisor is one divisor too small or too large.
Expr floor_mod(const Expr& dividend, const Expr& divisor) {
  Names name;
  const Expr y = name(divisor), rest = fmod_of(name, name(dividend), y), zero = number(y, 0);
  const Expr differs = strict::less(rest, zero) != strict::less(y, zero);
  const Expr is_off = differs && !strict::equal(rest, zero);
  return name.around(Halide::select(is_off, strict::add(rest, y), rest));
}

}  // namespace tile_tune::codegen::functions
