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

// (1 + 2 a) e^(a^2) erfc(a) = 1 + a P(a) / Q(a), a number between 1 and 1.28 (after Shepherd and Laframboise, 1981),
// within 2^-26.7 and 2^-55; the least a whose erfc rounds to 0; ln 2 in two parts, of which the first has few bits.
struct ErfcForm {
  double zero, ln2_high, ln2_low;
  std::vector<double> numerator, denominator;
};

const ErfcForm kErfcSingle{10.3,
                           0x1.62e4p-1,
                           0x1.7f7d1cp-20,
                           {0x1.a206a8p+3, 0x1.91570cp+3, 0x1.77ad2p+2, 0x1.69f1c8p+0, 0x1.06efep-3},
                           {0x1.df9894p+3, 0x1.1ffdfap+5, 0x1.29796ap+5, 0x1.4fb044p+4, 0x1.a7bad4p+2, 1}};

const ErfcForm kErfcDouble{
    27.4,
    0x1.62e42fefap-1,
    0x1.cf79abc9e3b3ap-40,
    {0x1.b616019082443p+12, 0x1.9fd2f23ebf246p+13, 0x1.8af21b28063cp+13, 0x1.dff50d94ecf56p+12, 0x1.96197a2eb5ee6p+11,
     0x1.ecc0e06dc35a8p+9, 0x1.ab1b9a0f3c76ep+7, 0x1.fcff82c17ff06p+4, 0x1.7991be45b0567p+1, 0x1.06eba8213aa2bp-3},
    {0x1.f69c572ab9889p+12, 0x1.a3b57cd7aa15ep+14, 0x1.45ec5297430cfp+15, 0x1.36c2b1c0f016bp+15, 0x1.942af9b89fd26p+14,
     0x1.7808df46aab19p+13, 0x1.fd5906fc58288p+11, 0x1.f2f187054edc9p+9, 0x1.55100c72ee23dp+7, 0x1.2950cbce55e98p+4,
     1}};

// Of even and of odd powers, of which the one has the square already.
Expr of_halves(const Expr& x, const Expr& square, const std::vector<double>& coefficients) {
  std::vector<double> halves[2];
  for (size_t k = 0; k < coefficients.size(); ++k) halves[k % 2].push_back(coefficients[k]);
  return horner(square, halves[1]) * x + horner(square, halves[0]);
}

// (1 + y) (1 + z) / (1 + 2 a), where e^(-a^2) = 2^n (1 + z): what the divisor and its inverse have lost is added to the
// exponent, so that nothing but the last sum is rounded to the type's last bit. 2^100 times that, lest it be subnormal.
Expr erfc_of_magnitude(Names& name, const Expr& a) {
  const ErfcForm& form = is_single(a) ? kErfcSingle : kErfcDouble;
  const Expr one = number(a, 1), twice = name(strict::add(a, a)), divisor = name(strict::add(one, twice));
  const Expr lost = strict::sub(twice, strict::sub(divisor, one));  // exact: 1 has no bits below the last of 2 a
  const Expr inverse = name(strict::div(one, divisor));
  const Expr excess = multiply_add(lost, inverse, product_error(divisor, inverse, one));

  const Expr square = name(strict::mul(a, a)), less_square = name(with_sign(square, word(a, sign_mask(a))));
  const Expr to_integer = number(a, is_single(a) ? 0x1.8p23 : 0x1.8p52);
  const Expr shifted = name(multiply_add(less_square, number(a, 0x1.71547652b82fep0), to_integer));
  const Expr n = name(strict::sub(shifted, to_integer));
  const Expr high = multiply_add(n, number(a, -form.ln2_high), less_square);
  const Expr low = multiply_add(n, number(a, form.ln2_low), product_error(a, a, square));
  const Expr z = name(fraction_less_one(name, name(strict::sub(high, strict::add(low, excess)))));

  const Expr numerator = strict::mul(a, of_halves(a, square, form.numerator));
  const Expr y = name(strict::div(numerator, of_halves(a, square, form.denominator)));
  const Expr more = name(strict::add(z, multiply_add(y, z, y)));
  const Expr power = name(scaled_normal(inverse, {bits_of(shifted) + word(a, 100), z, {}, {}}));
  const Pair product = two_product(name, power, more), sum = fast_two_sum(name, power, product.high);
  return where_fused(fma(power, more, power), strict::add(sum.high, strict::add(sum.low, product.low)));
}

}  // namespace

// erfc |x|, or 2 - erfc |x|.
Expr erfc(const Expr& argument) {
  Names name;
  const Expr x = name(argument), one = number(x, 1), sign = name(sign_bit(x));
  const double zero = (is_single(x) ? kErfcSingle : kErfcDouble).zero;
  const Expr value = erfc_of_magnitude(name, bounded_magnitude(name, x, zero));
  // A minimum of two that is the second one if this is NaN.
  const Expr above = name(strict::add(magnitude(x), one));
  const Expr one_or_nan = name(Halide::select(strict::less(one, above), one, above));
  const Expr of_two = strict::sub(one_or_nan, with_sign(one_or_nan, sign));
  return name.around(multiply_add(value, with_sign(number(x, 0x1p-100), sign), of_two));
}

}  // namespace tile_tune::codegen::functions
