// erf and erfc.
#include "codegen/lower/functions/arithmetic.h"
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

Expr erf(const Expr& argument) {
  Names name;
  const ErfForm& form = is_single(argument) ? kErfSingle : kErfDouble;
  const Expr x = name(argument), size = name(magnitude(x));
  const Expr within = name(Halide::select(strict::less(size, number(x, form.one)), size, number(x, form.one)));
  const Expr square = name(x * x);
  const Expr near = name(strict::add(x, horner(square, form.near) * x));
  const Expr root = name(horner(within, form.far));
  const Expr second = name(root * root);
  const Expr fourth = name(second * second);
  const Expr far = with_sign(strict::sub(number(x, 1), fourth * fourth), sign_bit(x));
  return name.around(Halide::select(strict::less(number(x, form.split), size), far, near));
}

}  // namespace tile_tune::codegen::functions
