// sin, cos and tan: |x| less the nearest multiple of pi (an odd half of it, or a half) and a polynomial. Multiples are
// products with pieces of pi so short that all but the last are exact (Cody and Waite 1980), for |x| below a limit;
// beyond it, in a branch, remainders come from the bits of 1/pi (Payne and Hanek 1983).
#include "codegen/lower/functions/trigonometric.h"

#include "codegen/lower/functions/arithmetic.h"
#include "codegen/lower/functions/functions.h"
#include "codegen/lower/functions/rare.h"
#include "codegen/lower/functions/rare_cases.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

struct Form {
  double limit;
  // pi: n times one of the first pieces has no more bits than the type, with n up to limit * 2 / pi and a half; and in
  // three words; and what the first of these lacks, of which n times the first piece is as short, too.
  std::vector<double> pi, words, rest;
  // sin(r) = r + r^3 p(r^2) within pi / 2: least relative error.
  std::vector<double> sine;
  // The last coefficient where the sum is fused: a little less, lest the sum round to more than 1.
  double fused_last;
};

const Form kSingle{
    0x1p14,
    {0x1.92p1, 0x1.fb8p-11, -0x1.5ep-22, 0x1.0b4612p-33},
    {0x1.921fb6p1, -0x1.777a5cp-24, -0x1.ee59dap-49},
    {-0x1.778p-24, 0x1.68c234p-38},
    {-0x1.55554cp-3, 0x1.110edap-7, -0x1.9f70fp-13, 0x1.5dc902p-19},
    0x1.5dc222p-19};

const Form kDouble{
    0x1p20,
    {0x1.921fb544p1, 0x1.0b4611a6p-33, 0x1.3198a2ep-68, 0x1.b839a252049c1p-103},
    {0x1.921fb54442d18p1, 0x1.1a62633145c07p-53, -0x1.f1976b7ed8fbcp-109},
    {0x1.1a626332p-53, -0x1.747f23e32ed7p-86},
    {-0x1.5555555555555p-3, 0x1.11111111110c9p-7, -0x1.a01a01a014eb7p-13, 0x1.71de3a52aac68p-19, -0x1.ae6454d968e2dp-26,
     0x1.6123ce53b3c91p-33, -0x1.ae43dd5450162p-41, 0x1.883c314450f1p-49},
    0x1.883bd2d1ccbebp-49};

// tan(r) = r + r^3 p(r^2) within pi / 4, within 0.3 ulp. In f64, where p is long, it is the quotient
// (r + r^3 p(r^2)) / (1 + r^2 q(r^2)), within 0.01 ulp.
const std::vector<double> kTangent{0x1.5554dcp-2, 0x1.112e5cp-3, 0x1.b5757cp-5,
                                   0x1.90e6fap-6, 0x1.907d7ap-9, 0x1.34d26ep-7};
const std::vector<double> kAbove{-0x1.1127ced94dbb5p-3, 0x1.c0cc82ee404b6p-9, -0x1.2b701d89830d6p-16};
const std::vector<double> kBelow{-0x1.dde93cc1fc33p-2, 0x1.a46cf68a8091bp-6, -0x1.46d1585105e71p-12,
                                 0x1.0b1c3290f662ap-21};

const Form& form_of(const Expr& x) { return is_single(x) ? kSingle : kDouble; }

// r + r^3 p(r^2)
Expr sine_of_rest(Names& name, const Expr& r, const Form& form) {
  const Expr square = name(r * r), cube = name(strict::mul(r, square));
  std::vector<double> fused = form.sine;
  fused.back() = form.fused_last;
  return name(where_fused(fma(cube, polynomial(name, square, fused), r),
                          strict::add(r, cube * polynomial(name, square, form.sine))));
}

// An integer as float and as a word.
struct Rounded {
  Expr value, integer;
};

// The nearest integer to `size` times a constant: what is between two integers is taken for either.
Rounded multiples(Names& name, const Expr& size, double factor, double offset) {
  const Expr shift = number(size, is_single(size) ? 0x1.8p23 : 0x1.8p52);
  const Expr product = size * number(size, factor);
  const Expr sum = name(offset == 0 ? product + shift : strict::add(product + number(size, offset), shift));
  return {name(strict::sub(sum, shift)), bits_of(sum)};
}

// size - n * pi * scale in three steps, fused: the first is exact, since it has no more bits than the type.
Expr fused_step(const Expr& rest, const Expr& n, double scale, size_t word) {
  return fma(n, number(rest, -form_of(rest).words[word] * scale), rest);
}

// That and its error: where the difference is small, it is exact, like the product.
Pair fused_less_multiple(Names& name, const Expr& size, const Expr& n, double scale) {
  const auto piece = [&](size_t k) { return number(size, -form_of(size).rest[k] * scale); };
  const Expr first = name(fused_step(size, n, scale, 0)), second = name(fma(n, piece(0), first));
  const Expr lost = name(fma(n, piece(0), strict::sub(first, second)));
  return {second, name(fma(n, piece(1), lost))};
}

Pair portable_less_multiple(Names& name, const Expr& size, const Expr& n, double scale) {
  const Form& form = form_of(size);
  const auto piece = [&](size_t k) { return number(size, form.pi[k] * scale); };
  const size_t last = is_single(size) ? 2 : 1;
  // Exact products, and exact differences but that of a small number and half of pi.
  const Expr whole = name(strict::mul(n, piece(0))), less_whole = name(strict::sub(size, whole));
  const Expr lost = strict::sub(size, strict::add(less_whole, whole));
  Expr rest = less_whole;
  if (last == 2) rest = name(strict::sub(rest, strict::mul(n, piece(1))));
  const Expr next = name(strict::mul(n, piece(last))), rounded = name(strict::sub(rest, next));
  const Expr error = name(strict::sub(strict::sub(rest, rounded), next));
  Expr correction = strict::sub(strict::mul(n, piece(last + 1)), error);
  if (last == 1) correction = strict::add(strict::mul(n, piece(3)), correction);
  correction = name(strict::sub(correction, lost));
  const Expr high = name(strict::sub(rounded, correction));
  return {high, strict::sub(strict::sub(rounded, high), correction)};
}

Pair less_multiple(Names& name, const Expr& size, const Expr& n, double scale) {
  const Pair fused = fused_less_multiple(name, size, n, scale), portable = portable_less_multiple(name, size, n, scale);
  return {name(where_fused(fused.high, portable.high)), name(where_fused(fused.low, portable.low))};
}

// The sine of that for scale 1, where the error of one number does not matter.
Expr sine_less_multiple(Names& name, const Expr& size, const Expr& n) {
  const Expr second = name(fused_step(name(fused_step(size, n, 1, 0)), n, 1, 1));
  const Expr r = where_fused(fused_step(second, n, 1, 2), portable_less_multiple(name, size, n, 1).high);
  return sine_of_rest(name, name(r), form_of(size));
}

Expr odd_sign(const Expr& integer) { return integer << word(integer, integer.type().bits() - 1); }

// What the tangents take: r, its square and its cube, and whether `sign` has its bit.
struct Octant {
  Expr square, cube, is_odd;
};
Octant octant_of(Names& name, const Pair& r, const Expr& sign) {
  const Expr square = name(r.high * r.high), cube = name(strict::mul(r.high, square));
  return {square, cube, name(Halide::reinterpret(sign.type().with_code(halide_type_int), sign) < 0)};
}

Expr single_tangent(Names& name, const Pair& r, const Expr& sign) {
  const auto [square, cube, is_odd] = octant_of(name, r, sign);
  // What r lacks counts 1 + tan(r)^2 times.
  const Expr rest = name(cube * polynomial(name, square, kTangent) + name(r.low * square + r.low));
  const Expr tangent = name(strict::add(r.high, rest));
  return Halide::select(is_odd, strict::div(number(square, 1), tangent), tangent);
}

Expr double_tangent(Names& name, const Pair& r, const Expr& sign) {
  const auto [square, cube, is_odd] = octant_of(name, r, sign);
  const Expr one = number(square, 1), below = name(polynomial(name, square, kBelow));
  const Expr rest = name(cube * polynomial(name, square, kAbove) + name(r.low * square + r.low));
  // What the cosine loses is taken from the sine, as large a part of it.
  const Expr product = name(strict::mul(square, below)), sum = name(strict::add(product, one));
  const Expr cosine = name(where_fused(fma(square, below, one), sum));
  const Expr difference = name(strict::sub(one, cosine));
  const Expr lost = name(where_fused(fma(square, below, difference), strict::add(product, difference)));
  const Expr part = name(where_fused(r.high, cube * number(cube, 0.44) + r.high));
  const Expr sine = name(strict::add(r.high, rest - lost * part));
  return strict::div(Halide::select(is_odd, cosine, sine), Halide::select(is_odd, sine, cosine));
}

// The tangent of a number whose nearest multiple of pi / 2 is an even one, or an odd one, where `sign` has its bit, and
// r from it; the caller has to give it that sign.
Expr tangent_of(Names& name, const Pair& r, const Expr& sign) {
  return is_single(r.high) ? single_tangent(name, r, sign) : double_tangent(name, r, sign);
}

Expr is_beyond(const Expr& size) { return !strict::less(size, number(size, form_of(size).limit)); }

}  // namespace

Expr sin(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x));
  const Rounded n = multiples(name, size, 0x1.45f306dc9c883p-2, 0);
  const Expr sine = sine_less_multiple(name, size, n.value);
  return name.around(usually(with_sign(sine, odd_sign(n.integer) ^ sign_bit(x)), is_beyond(size), "sin", {x}));
}

Expr cos(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x));
  const Rounded n = multiples(name, size, 0x1.45f306dc9c883p-2, 0.5);
  const Expr half = name(strict::sub(n.value, number(x, 0.5)));
  const Expr sine = sine_less_multiple(name, size, half);
  return name.around(usually(with_sign(sine, odd_sign(n.integer)), is_beyond(size), "cos", {x}));
}

Expr tan(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x));
  const Rounded n = multiples(name, size, 0x1.45f306dc9c883p-1, 0);
  const Pair r = less_multiple(name, size, n.value, 0.5);
  const Expr sign = name(odd_sign(n.integer));
  return name.around(usually(with_sign(tangent_of(name, r, sign), sign ^ sign_bit(x)), is_beyond(size), "tan", {x}));
}

// sin(high + low) = sin(high) + low cos(high).
Pair sine_of(Names& name, const Pair& r) {
  const Expr square = name(r.high * r.high), cube = name(strict::mul(r.high, square));
  const Expr cosine = number(r.high, 1) - square * number(r.high, 0.5);
  return fast_two_sum(name, r.high, strict::add(cube * horner(square, kDouble.sine), strict::mul(r.low, cosine)));
}

namespace {

// The bits of 1/pi behind 64 zeros.
constexpr uint64_t kInversePi[] = {0x0000000000000000, 0x517cc1b727220a94, 0xfe13abe8fa9a6ee0, 0x6db14acc9e21c820,
                                   0xff28b1d5ef5de2b0, 0xdb92371d2126e970, 0x0324977504e8c90e, 0x7f0ef58e5894d39f,
                                   0x74411afa975da242, 0x74ce38135a2fbf20, 0x9cc8eb1cc1a99cfa, 0x4e422fc5defc941d,
                                   0x8ffc4bffef02cc07, 0xf79788c5ad05368f, 0xb69b3f6793e584db, 0xa7a31fb34f2ff516,
                                   0xba93dd63f5f2f8bd, 0x9e839cfbc5294975, 0x35fdafd88fc6ae84, 0x2b0198237e3db5d5};

// 192 bits of 1/pi from a bit on, as six digits of 32 bits, the highest first.
std::vector<Expr> inverse_pi_from(Names& name, const Expr& bit) {
  std::vector<Expr> words;
  for (const uint64_t each : kInversePi) words.push_back(word(bit, each));
  for (int step = 16; step > 0; step /= 2) {
    const Expr moves = name((bit & word(bit, 64 * step)) != word(bit, 0));
    std::vector<Expr> moved;
    for (size_t k = 0; k < static_cast<size_t>(step) + 3; ++k)
      moved.push_back(k + step < words.size() ? name(Halide::select(moves, words[k + step], words[k])) : words[k]);
    words = moved;
  }
  const Expr shift = name(bit & word(bit, 63)), rest = name(word(bit, 63) - shift);
  std::vector<Expr> digits;
  for (size_t k = 0; k < 3; ++k) {
    const Expr window = name((words[k] << shift) | ((words[k + 1] >> word(bit, 1)) >> rest));
    digits.push_back(name(window >> word(bit, 32)));
    digits.push_back(name(window & word(bit, 0xffffffff)));
  }
  return digits;
}

// |x| / pi modulo 4 in units of 2^-126: of two words, x a normal f64.
struct Turns {
  Expr high, low;
};
Turns turns_of(Names& name, const Expr& x) {
  const Expr bits = name(bits_of(magnitude(x)));
  const Expr significand = name((bits & word(x, 0xfffffffffffff)) | word(x, 0x10000000000000));
  // x = significand * 2^(exponent - 1075): of the bits of 1/pi those before exponent - 1077 make multiples of 4.
  const Expr digits_from = name((bits >> word(x, 52)) + word(x, 64 - 1077));
  const std::vector<Expr> digits = inverse_pi_from(name, digits_from);
  const Expr mask = word(x, 0xffffffff), half = word(x, 32);
  const Expr low = name(significand & mask), high = name(significand >> half);
  std::vector<Expr> product(6);
  Expr carry = word(x, 0), upper = word(x, 0);
  for (int k = 5; k >= 0; --k) {
    // Both factors of a product are below 2^32, and the higher word of x is below 2^21.
    const Expr first = name(low * digits[k]), second = k < 5 ? name(high * digits[k + 1]) : word(x, 0);
    const Expr sum = name((first & mask) + (second & mask) + upper + carry);
    product[k] = sum & mask;
    carry = name(sum >> half);
    upper = name((first >> half) + (second >> half));
  }
  return {name((product[0] << half) | product[1]), name((product[2] << half) | product[3])};
}

struct Remainder {
  Pair value;
  Expr multiple;
};

// |x| less the nearest multiple of 2^unit turns of pi, and which one it is.
Remainder remainder_of(Names& name, const Expr& x, uint64_t offset, int unit) {
  const Turns turns = turns_of(name, x);
  const Expr high = name(turns.high + word(x, offset));
  const Expr multiple = name((high + word(x, uint64_t{1} << (unit - 1))) >> word(x, unit));
  const Expr rest = name(high - (multiple << word(x, unit)));
  const Expr is_negative = name((rest >> word(x, 63)) != word(x, 0));
  // The absolute value, in two parts which f64 holds: bits from 2^11 on, and the next ones.
  const Expr flip = name(Halide::select(is_negative, word(x, ~uint64_t{0}), word(x, 0)));
  const Expr size = name(rest ^ flip), low = name(turns.low ^ flip);
  const auto real = [&](const Expr& bits) {
    return Halide::cast(x.type(), Halide::cast(bits.type().with_code(halide_type_int), bits));
  };
  const Expr first = real(size & word(x, ~uint64_t{0x7ff}));
  const Expr second =
      strict::add(real(size & word(x, 0x7ff)), strict::mul(real(low >> word(x, 11)), number(x, 0x1p-53)));
  const Pair pi{number(x, 0x1.921fb54442d18p-61), number(x, 0x1.1a62633145c07p-115)};
  const Pair r = multiply(name, fast_two_sum(name, first, second), pi);
  const auto with_flip = [&](const Expr& part) { return name(with_sign(part, flip & word(x, uint64_t{1} << 63))); };
  return {{with_flip(r.high), with_flip(r.low)}, multiple};
}

// Infinities and NaN are seen to last: LLVM takes for granted that a conversion gives neither.
Expr in_double(const std::vector<Expr>& arguments, Expr (*function)(const Expr&)) {
  const Expr& x = arguments[0];
  const Expr result = Halide::cast(x.type(), function(Halide::cast(x.type().with_bits(64), x)));
  return Halide::select(strict::less(magnitude(x), infinity(x)), result, not_a_number(x));
}

Expr large_sine(const Expr& x) {
  Names name;
  const Remainder r = remainder_of(name, x, 0, 62);
  return name.around(with_sign(sine_of(name, r.value).high, (r.multiple << word(x, 63)) ^ sign_bit(x)));
}

Expr large_cosine(const Expr& x) {
  Names name;
  const Remainder r = remainder_of(name, x, uint64_t{1} << 61, 62);
  return name.around(with_sign(sine_of(name, r.value).high, r.multiple << word(x, 63)));
}

Expr large_tangent(const Expr& x) {
  Names name;
  const Remainder r = remainder_of(name, x, 0, 61);
  const Expr sign = name(odd_sign(r.multiple));
  return name.around(with_sign(tangent_of(name, r.value, sign), sign ^ sign_bit(x)));
}

}  // namespace

Expr rare_sin(const std::vector<Expr>& arguments) { return in_double(arguments, large_sine); }
Expr rare_cos(const std::vector<Expr>& arguments) { return in_double(arguments, large_cosine); }
Expr rare_tan(const std::vector<Expr>& arguments) { return in_double(arguments, large_tangent); }

}  // namespace tile_tune::codegen::functions
