// sin, cos and tan: x less the nearest multiple of pi (an odd half of it, or a half) and a polynomial. Multiples are
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
  // pi: n times one of the first pieces has no more bits than the type, with n up to limit * 2 / pi and a half.
  std::vector<double> pi;
  // In three words, none of them negative; and the limit for tangents and pi / 2 for these, n times the second of which
  // has no more bits than the type.
  std::vector<double> words;
  double limit_of_halves;
  std::vector<double> halves;
  // sin(r) = r + r^3 p(r^2) within pi / 2: least relative error.
  std::vector<double> sine;
  // So little that its product with a small number is 0.
  double tiny;
};

const Form kSingle{0x1p14,
                   {0x1.92p1, 0x1.fb8p-11, -0x1.5ep-22, 0x1.0b4612p-33},
                   {0x1.921fb4p1, 0x1.4442dp-23, 0x1.84698ap-47},
                   12800,
                   {0x1.921fb4p0, 0x1.444p-24, 0x1.68c234p-39},
                   {-0x1.55554cp-3, 0x1.110edap-7, -0x1.9f70fp-13, 0x1.5dc902p-19},
                   0x1p-120};

const Form kDouble{0x1p20,
                   {0x1.921fb544p1, 0x1.0b4611a6p-33, 0x1.3198a2ep-68, 0x1.b839a252049c1p-103},
                   {0x1.921fb54442d18p1, 0x1.1a62633145c06p-53, 0x1.c1cd129024e09p-106},
                   0x1p20,
                   {0x1.921fb54442d18p0, 0x1.1a626331p-54, 0x1.1701b839a252p-88},
                   {-0x1.5555555555555p-3, 0x1.11111111110c9p-7, -0x1.a01a01a014eb7p-13, 0x1.71de3a52aac68p-19,
                    -0x1.ae6454d968e2dp-26, 0x1.6123ce53b3c91p-33, -0x1.ae43dd5450162p-41, 0x1.883c314450f1p-49},
                   0x1p-1000};

// tan(r) = r + r^3 p(r^2) within pi / 4, within 0.33 ulp, and least near pi / 4. In f64, where p is long, it is the
// quotient (r + r^3 p(r^2)) / (1 + r^2 q(r^2)), within 0.01 ulp.
const std::vector<double> kTangent{0x1.5554d4p-2, 0x1.112feep-3, 0x1.b5421cp-5,
                                   0x1.92541p-6,  0x1.7e3342p-9, 0x1.37884ap-7};
const std::vector<double> kAbove{-0x1.1127ced94dbb5p-3, 0x1.c0cc82ee404b6p-9, -0x1.2b701d89830d6p-16};
const std::vector<double> kBelow{-0x1.dde93cc1fc33p-2, 0x1.a46cf68a8091bp-6, -0x1.46d1585105e71p-12,
                                 0x1.0b1c3290f662ap-21};

const Form& form_of(const Expr& x) { return is_single(x) ? kSingle : kDouble; }

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

// x less n times a piece of pi: exact for the first piece, since the difference has no more bits than the type. Where
// no piece is negative, nor n of no sign, a zero keeps its own.
Expr less(Names& name, const Expr& x, const Expr& n, double piece) { return name(fma(n, number(x, -piece), x)); }

// The square of r, and of a zero a number that is less than one: where the cube is that times r, and p is negative,
// r + r^3 p of a zero then has its sign.
Expr square_of(Names& name, const Expr& r) { return name(fma(r, r, number(r, -form_of(r).tiny))); }

// Of x less n times pi, turned by `sign`. The polynomial takes a number near that, which is known earlier.
Expr fused_sine(Names& name, const Expr& x, const Expr& n, const Expr& sign) {
  const Form& form = form_of(x);
  const Expr near = less(name, less(name, x, n, form.words[0]), n, form.words[1]);
  const Expr r = name(with_sign(less(name, near, n, form.words[2]), sign));
  const Expr square = square_of(name, near);
  return name(fma(name(strict::mul(r, square)), polynomial(name, square, form.sine), r));
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

Expr portable_sine(Names& name, const Expr& x, const Expr& n) {
  const Expr r = portable_less_multiple(name, x, n, 1).high;
  const Expr square = name(r * r), cube = name(strict::mul(r, square));
  return name(strict::add(r, cube * polynomial(name, square, form_of(x).sine)));
}

Expr odd_sign(const Expr& integer) { return integer << word(integer, integer.type().bits() - 1); }

Expr is_odd(Names& name, const Expr& sign) {
  return name(Halide::reinterpret(sign.type().with_code(halide_type_int), sign) < 0);
}

// A number, and what it has too much.
struct Excessive {
  Expr value, excess;
};

// x less n halves of pi. Where the second difference is small, it is exact, like the product with the second piece.
Excessive fused_less_halves(Names& name, const Expr& x, const Expr& n) {
  const std::vector<double>& piece = form_of(x).halves;
  const Expr first = less(name, x, n, piece[0]), r = less(name, first, n, piece[1]);
  return {r, less(name, less(name, name(strict::sub(r, first)), n, -piece[1]), n, -piece[2])};
}

Excessive portable_less_halves(Names& name, const Expr& x, const Expr& n) {
  const Pair r = portable_less_multiple(name, x, n, 0.5);
  return {r.high, name(strict::sub(number(x, 0), r.low))};
}

// a b - c
Expr product_less(const Expr& a, const Expr& b, const Expr& c) {
  return where_fused(fma(a, b, with_sign(c, word(c, sign_mask(c)))), a * b - c);
}

// The excess counts 1 + tan(r)^2 times: nearly.
Expr counted(Names& name, const Expr& excess, const Expr& square) {
  return name(where_fused(fma(excess, square, excess), excess * square + excess));
}

Expr single_tangent(Names& name, const Excessive& r, const Expr& sign) {
  const auto& [value, excess] = r;
  const Expr square = name(value * value), cube = name(strict::mul(value, square));
  const Expr rest = product_less(cube, name(estrin(name, square, kTangent)), counted(name, excess, square));
  const Expr tangent = name(strict::add(value, rest));
  return Halide::select(is_odd(name, sign), strict::div(number(square, -1), tangent), tangent);
}

Expr double_tangent(Names& name, const Excessive& r, const Expr& sign) {
  const auto& [value, excess] = r;
  const Expr square = name(where_fused(square_of(name, value), value * value)), cube = name(strict::mul(value, square));
  const Expr one = number(square, 1), below = name(estrin(name, square, kBelow));
  const Expr rest = name(product_less(cube, name(polynomial(name, square, kAbove)), counted(name, excess, square)));
  // What the cosine loses is taken from the sine, as large a part of it; without fused operations also what the square
  // lost (near pi / 4 it was 2.02 ulp with the rest).
  const Expr product = name(strict::mul(square, below)), sum = name(strict::add(product, one));
  const Expr cosine = name(where_fused(fma(square, below, one), sum));
  const Expr difference = name(strict::sub(one, cosine));
  const Expr lost_by_square = name(strict::mul(product_error(value, value, square), below));
  const Expr lost =
      name(where_fused(fma(square, below, difference), strict::add(strict::add(product, difference), lost_by_square)));
  const Expr part = name(where_fused(value, cube * number(cube, 0.44) + value));
  const Expr sine = name(strict::sub(value, product_less(lost, part, rest)));
  const Expr odd = is_odd(name, sign);
  return with_sign(strict::div(Halide::select(odd, cosine, sine), Halide::select(odd, sine, cosine)), sign);
}

// The tangent of a number whose nearest multiple of pi / 2 is an even one, or an odd one, where `sign` has its bit, and
// r from it.
Expr tangent_of(Names& name, const Excessive& r, const Expr& sign) {
  return is_single(r.value) ? single_tangent(name, r, sign) : double_tangent(name, r, sign);
}

// One in several thousand sums near 1 is rounded beyond it.
Expr within_one(const Expr& sine) { return Halide::clamp(sine, number(sine, -1), number(sine, 1)); }

Expr is_beyond(const Expr& x, double limit) { return !strict::less(magnitude(x), number(x, limit)); }

}  // namespace

Expr sin(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x));
  const auto multiple = [&](const Expr& of) { return multiples(name, of, 0x1.45f306dc9c883p-2, 0); };
  const Rounded n = multiple(x), portable_n = multiple(size);
  const Expr fused = fused_sine(name, x, n.value, odd_sign(n.integer));
  const Expr portable =
      with_sign(portable_sine(name, size, portable_n.value), odd_sign(portable_n.integer) ^ sign_bit(x));
  return name.around(usually(within_one(where_fused(fused, portable)), is_beyond(x, form_of(x).limit), "sin", {x}));
}

Expr cos(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x));
  const Rounded n = multiples(name, size, 0x1.45f306dc9c883p-2, 0.5);
  const Expr half = name(strict::sub(n.value, number(x, 0.5))), sign = name(odd_sign(n.integer));
  const Expr cosine = where_fused(fused_sine(name, size, half, sign), with_sign(portable_sine(name, size, half), sign));
  return name.around(usually(within_one(cosine), is_beyond(x, form_of(x).limit), "cos", {x}));
}

Expr tan(const Expr& argument) {
  Names name;
  const Expr x = name(argument), size = name(magnitude(x));
  const auto tangent = [&](const Expr& of, Excessive (*less_halves)(Names&, const Expr&, const Expr&)) {
    const Rounded n = multiples(name, of, 0x1.45f306dc9c883p-1, 0);
    return name(tangent_of(name, less_halves(name, of, n.value), name(odd_sign(n.integer))));
  };
  const Expr fused = tangent(x, fused_less_halves);
  const Expr portable = with_sign(tangent(size, portable_less_halves), sign_bit(x));
  return name.around(usually(where_fused(fused, portable), is_beyond(x, form_of(x).limit_of_halves), "tan", {x}));
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
  const Excessive rest{r.value.high, name(strict::sub(number(x, 0), r.value.low))};
  return name.around(with_sign(tangent_of(name, rest, name(odd_sign(r.multiple))), sign_bit(x)));
}

}  // namespace

Expr rare_sin(const std::vector<Expr>& arguments) { return in_double(arguments, large_sine); }
Expr rare_cos(const std::vector<Expr>& arguments) { return in_double(arguments, large_cosine); }
Expr rare_tan(const std::vector<Expr>& arguments) { return in_double(arguments, large_tangent); }

}  // namespace tile_tune::codegen::functions
