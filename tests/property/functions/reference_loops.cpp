// Compiled with -ffast-math, as the compiler asks for before it calls vector functions.
#include "tests/property/functions/reference_loops.h"

#include <math.h>

#include <map>

#include "tests/property/functions/target_clones.h"

namespace tile_tune::codegen::functions {
namespace {

#define REFERENCE_LOOP(name, value)                                                                   \
  TILE_TUNE_TARGET_CLONES void loop_of_##name(const double* __restrict x, const double* __restrict y, \
                                              double* __restrict z, size_t count) {                   \
    for (size_t i = 0; i < count; ++i) z[i] = value;                                                  \
    (void)y;                                                                                          \
  }

REFERENCE_LOOP(acos, acos(x[i]))
REFERENCE_LOOP(acosh, acosh(x[i]))
REFERENCE_LOOP(asin, asin(x[i]))
REFERENCE_LOOP(asinh, asinh(x[i]))
REFERENCE_LOOP(atan, atan(x[i]))
REFERENCE_LOOP(atan2, atan2(x[i], y[i]))
REFERENCE_LOOP(atanh, atanh(x[i]))
REFERENCE_LOOP(cbrt, cbrt(x[i]))
REFERENCE_LOOP(cos, cos(x[i]))
REFERENCE_LOOP(cosh, cosh(x[i]))
REFERENCE_LOOP(erf, erf(x[i]))
REFERENCE_LOOP(erfc, erfc(x[i]))
REFERENCE_LOOP(exp, exp(x[i]))
REFERENCE_LOOP(exp2, exp2(x[i]))
REFERENCE_LOOP(exp10, exp10(x[i]))
REFERENCE_LOOP(expm1, expm1(x[i]))
REFERENCE_LOOP(fmod, fmod(x[i], y[i]))
REFERENCE_LOOP(hypot, hypot(x[i], y[i]))
REFERENCE_LOOP(lgamma, lgamma(x[i]))
REFERENCE_LOOP(log, log(x[i]))
REFERENCE_LOOP(log10, log10(x[i]))
REFERENCE_LOOP(log1p, log1p(x[i]))
REFERENCE_LOOP(log2, log2(x[i]))
REFERENCE_LOOP(pow, pow(x[i], y[i]))
REFERENCE_LOOP(rsqrt, 1 / sqrt(x[i]))
REFERENCE_LOOP(sigmoid, 1 / (1 + exp(-x[i])))
REFERENCE_LOOP(sin, sin(x[i]))
REFERENCE_LOOP(sinh, sinh(x[i]))
REFERENCE_LOOP(tan, tan(x[i]))
REFERENCE_LOOP(tanh, tanh(x[i]))
REFERENCE_LOOP(tgamma, tgamma(x[i]))

#undef REFERENCE_LOOP

}  // namespace

ReferenceLoop reference_loop(const std::string& name) {
  static const std::map<std::string, ReferenceLoop> all{
      {"acos", loop_of_acos},   {"acosh", loop_of_acosh},     {"asin", loop_of_asin},     {"asinh", loop_of_asinh},
      {"atan", loop_of_atan},   {"atan2", loop_of_atan2},     {"atanh", loop_of_atanh},   {"cbrt", loop_of_cbrt},
      {"cos", loop_of_cos},     {"cosh", loop_of_cosh},       {"erf", loop_of_erf},       {"erfc", loop_of_erfc},
      {"exp", loop_of_exp},     {"exp10", loop_of_exp10},     {"exp2", loop_of_exp2},     {"expm1", loop_of_expm1},
      {"fmod", loop_of_fmod},   {"hypot", loop_of_hypot},     {"lgamma", loop_of_lgamma}, {"log", loop_of_log},
      {"log10", loop_of_log10}, {"log1p", loop_of_log1p},     {"log2", loop_of_log2},     {"pow", loop_of_pow},
      {"rsqrt", loop_of_rsqrt}, {"sigmoid", loop_of_sigmoid}, {"sin", loop_of_sin},       {"sinh", loop_of_sinh},
      {"tan", loop_of_tan},     {"tanh", loop_of_tanh},       {"tgamma", loop_of_tgamma}};
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

}  // namespace tile_tune::codegen::functions
