// erf and erfc.
#include "codegen/lower/functions/exponentials.h"
#include "codegen/lower/functions/functions.h"

namespace tile_tune::codegen::functions {
namespace {

using Halide::Expr;

// Below the split x + x p(x^2), or x + x p(x^2 - 1) of f64, a polynomial of least error. Above it 1 - q(|x|)^8: the
// eighth root of erfc is smooth, so that a polynomial of the same degree does, and needs no exponential. erf is 1 from
// kErfOne on.
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
    1.375,
    5.95,
    {-0x1.4226162fbddd5p-3, -0x1.b5db0451254f4p-3, 0x1.cf6d2bc578648p-5, -0x1.9b3c1054f1648p-7, 0x1.31cd0cec0add1p-9,
     -0x1.84227ca8768dfp-12, 0x1.ac251194a6047p-15, -0x1.a0dfbe7040304p-18, 0x1.6aeccf473b5c4p-21,
     -0x1.1d8a6b472c55dp-24, 0x1.99a854c47a3a1p-28, -0x1.0dcb94b43e633p-31, 0x1.4d7ef9ffda3fdp-35,
     -0x1.8f4df297d66bfp-39},
    {0x1.ffffd1968fd19p-1, -0x1.20d7df3c63753p-3, -0x1.1d5cec3e6479ap-4, -0x1.06a86cf4169fdp-9, 0x1.a7576886fbd8dp-8,
     0x1.58ce88f621314p-12, -0x1.496c4da5d6526p-11, 0x1.4b3d9d9c6d4bep-13, -0x1.2092a35ea83e1p-15,
     0x1.21143366a8a57p-17, -0x1.a30e7a18b732p-20, 0x1.36703ee7a283cp-23, -0x1.aab9167f8e4a7p-32,
     -0x1.641b292c6ed82p-30, 0x1.07923a76802bfp-33, -0x1.069482b0817d5p-38}};

}  // namespace

Expr erf(const Expr& argument) {
  Names name;
  const bool single = is_single(argument);
  const ErfForm& form = single ? kErfSingle : kErfDouble;
  const Expr x = name(argument), size = name(magnitude(x));
  const Expr within = name(Halide::select(strict::less(size, number(x, form.one)), size, number(x, form.one)));
  const Expr square = name(within * within);
  const Expr t = name(strict::sub(square, number(x, 1)));
  const Expr series = single ? horner(square, form.near) : even_and_odd(t, name(t * t), form.near);
  const Expr near = name(strict::add(x, series * x));
  // Eight times its error is that of the power: f32 with the least roundings, f64 where the power is small.
  const Expr root = name(single ? horner(within, form.far) : even_and_odd(within, square, form.far));
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

  const Expr numerator = strict::mul(a, even_and_odd(a, square, form.numerator));
  const Expr y = name(strict::div(numerator, even_and_odd(a, square, form.denominator)));
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
