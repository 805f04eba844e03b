// erf and erfc.
#include "codegen/lower/functions/exponentials.h"
#include "codegen/lower/functions/functions.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// Below kErfSplit x + x p(x^2), a polynomial of least relative error. Above it 1 - q(|x|)^8: the eighth root of erfc is
// smooth, so that a polynomial of the same degree does, and needs no exponential. erf is 1 from kErfOne on.
struct ErfForm {
  double split, one;
  std::vector<double> near, far;
};

const ErfForm kErfSingle{
    1.1875,
    3.95,
    {0x1.06eba6p-3, -0x1.812708p-2, 0x1.ce246ep-4, -0x1.b77872p-6, 0x1.509428p-8, -0x1.8e18cep-11, 0x1.151296p-14},
    {0x1.0056cep0, -0x1.2cb83ep-3, -0x1.e1a086p-5, -0x1.b7bd58p-7, 0x1.c44b6p-7, -0x1.5d787ap-9, 0x1.5ff1e2p-13}};

const ErfForm kErfDouble{
    1.1875,
    5.95,
    {0x1.06eba8214db68p-3, -0x1.812746b0379b2p-2, 0x1.ce2f21a040d4fp-4, -0x1.b82ce31215d9ap-6, 0x1.565bcd00377d2p-8,
     -0x1.c02db1e521146p-11, 0x1.f9a2f355d5bf6p-14, -0x1.f4cf06f39a9cap-17, 0x1.b9c0daa4217bap-20,
     -0x1.5e494b49a12bdp-23, 0x1.f02f20beee2b2p-27, -0x1.24f4d0f05e538p-30, 0x1.b147f0a1a44cfp-35},
    {0x1.fffff630d3d53p-1, -0x1.20dc151022723p-3, -0x1.1d402399a6942p-4, -0x1.0e3c9ab6c47cap-9, 0x1.acd87411822dfp-8,
     0x1.f6999c0f446a1p-13, -0x1.23e473e475c6dp-11, 0x1.dca58d0890871p-14, -0x1.b5677275b0966p-17,
     0x1.2e93206b38372p-21, 0x1.ae9d549e837e9p-21, -0x1.a29da1f3f1f4ep-22, 0x1.865cbc5ac805p-24, -0x1.b38a0c991ed65p-27,
     0x1.2d6e6a23ed716p-30, -0x1.e64b0c54c1d7cp-35, 0x1.62cf3f8484229p-40}};

}  // namespace

// What polynomial() gives of f32 would lose a quarter of an ulp.
static Expr series(Names& name, const Expr& x, const std::vector<double>& coefficients) {
  return is_single(x) ? horner(x, coefficients) : estrin(name, x, coefficients);
}

Expr erf(const Expr& argument) {
  Names name;
  const ErfForm& form = is_single(argument) ? kErfSingle : kErfDouble;
  const Expr x = name(argument), size = name(magnitude(x));
  const Expr within = name(Halide::select(strict::less(size, number(x, form.one)), size, number(x, form.one)));
  const Expr square = name(x * x);
  const Expr near = name(strict::add(x, series(name, square, form.near) * x));
  // Eight times its error is that of the power: no shorter chain, which rounds more often.
  const Expr root = name(horner(within, form.far));
  const Expr second = name(root * root);
  const Expr fourth = name(second * second);
  const Expr far = with_sign(strict::sub(number(x, 1), fourth * fourth), sign_bit(x));
  return name.around(Halide::select(strict::less(number(x, form.split), size), far, near));
}

namespace {

// (1 + 2 a) e^(a^2) erfc(a), which is between 1 and 1.3, by (a - centre) / (a + centre) (after Shepherd and
// Laframboise, 1981), and the least a whose erfc rounds to 0; ln 2 in two parts, of which the first has few bits.
struct ErfcForm {
  double centre, zero, ln2_high, ln2_low;
  std::vector<double> scaled;
};

const ErfcForm kErfcSingle{
    2,
    10.3,
    0x1.62e4p-1,
    0x1.7f7d1cp-20,
    {0x1.46e80ep+0, -0x1.7bf5ecp-4, -0x1.5407bcp-3, 0x1.4ffa2ap-3, -0x1.bc2d14p-5, -0x1.074cbep-7, 0x1.1e2664p-7,
     0x1.4dd732p-10, -0x1.8d0f44p-10, -0x1.b45952p-12, 0x1.548328p-12}};

const ErfcForm kErfcDouble{
    3.5,
    27.4,
    0x1.62e42fefap-1,
    0x1.cf79abc9e3b3ap-40,
    {0x1.3e0a99a0ee914p+0,   -0x1.1ebd220ea593bp-3,  -0x1.59e2c284b11eap-7,  0x1.8f702ec6b332fp-4,
     -0x1.d76830c3531ap-4,   0x1.686106046edb1p-4,   -0x1.8ff5ef76d49e4p-5,  0x1.38ec66711a58cp-6,
     -0x1.143c4ca4eeaffp-8,  -0x1.3cf36981d6213p-12, 0x1.27e6640554d59p-11,  -0x1.fda9097d0c347p-14,
     -0x1.66e1cefdc90e9p-15, 0x1.9708a6667a448p-16,  0x1.386cb9d1da5e2p-19,  -0x1.fffba09462c31p-19,
     -0x1.715b0ea8df30ep-25, 0x1.421a28770b96p-21,   -0x1.442b718bd1ba6p-27, -0x1.8c7a9d4593106p-24,
     0x1.7181f483aca29p-30,  0x1.534aa02201b38p-27}};

// Below it 1 - x - x p(x^2), whose first difference is exact where it is small.
constexpr double kErfcSplit = 0.8;

// erfc of a from 0.8 on.
Expr far_erfc(Names& name, const Expr& a) {
  const ErfcForm& form = is_single(a) ? kErfcSingle : kErfcDouble;
  const Expr one = number(a, 1), centre = number(a, form.centre);
  const Expr q = name(strict::div(strict::sub(a, centre), strict::add(a, centre)));
  const std::vector<double> above(form.scaled.begin() + 1, form.scaled.end());
  const Pair factor = fast_two_sum(name, number(a, form.scaled[0]), name(strict::mul(q, series(name, q, above))));
  const Pair divisor = two_sum(name, one, name(strict::mul(a, number(a, 2))));
  // What the divisor has lost, over the divisor: an eighth of it more or less makes no difference.
  const Expr inverse = float_of(word(a, is_single(a) ? 0x7ef311c7 : 0x7fde623822fc16e6) - bits_of(divisor.high));

  // a^2 in two parts, of which the first is exact: e^(-a^2) = 2^n e^r.
  const Pair parts = halves(name, a);
  const Expr square = name(strict::mul(parts.high, parts.high));
  const Expr rest = strict::mul(parts.low, strict::add(a, parts.high));
  const Expr to_integer = number(a, is_single(a) ? 0x1.8p23 + 254 : 0x1.8p52 + 2046);
  const Expr shifted = name(strict::sub(to_integer, strict::mul(square, number(a, 0x1.71547652b82fep0))));
  const Expr n = name(strict::sub(shifted, to_integer));
  const Expr high = strict::sub(strict::sub(number(a, 0), square), strict::mul(n, number(a, form.ln2_high)));
  const Expr low =
      strict::add(strict::mul(n, number(a, form.ln2_low)), strict::add(rest, strict::mul(divisor.low, inverse)));
  const Expr r = name(strict::sub(high, low));
  const Expr power_less_one = name(strict::add(r, strict::mul(name(r * r), exponential_tail(name, r))));
  const Pair sum = fast_two_sum(name, factor.high, name(strict::mul(factor.high, power_less_one)));
  const Expr numerator = strict::add(sum.high, strict::add(sum.low, factor.low));
  return name(scaled(name, name(strict::div(numerator, divisor.high)), {bits_of(shifted), r, {}, {}}));
}

}  // namespace

Expr erfc(const Expr& argument) {
  Names name;
  const ErfcForm& form = is_single(argument) ? kErfcSingle : kErfcDouble;
  const ErfForm& near_form = is_single(argument) ? kErfSingle : kErfDouble;
  const Expr x = name(argument), size = name(magnitude(x)), square = name(x * x), one = number(x, 1);
  const Expr near = strict::sub(strict::sub(one, x), strict::mul(x, series(name, square, near_form.near)));
  const Expr a = name(Halide::select(strict::less(size, number(x, form.zero)), size, number(x, form.zero)));
  const Expr far = far_erfc(name, a);
  const Expr both = Halide::select(sign_bit(x) != word(x, 0), strict::sub(number(x, 2), far), far);
  const Expr result = Halide::select(strict::less(size, number(x, kErfcSplit)), near, both);
  return name.around(Halide::select(strict::is_nan(x), x, result));
}

}  // namespace tile_tune::codegen::functions
