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

#define FOR_EACH_FUNCTION(DO)       \
  DO(acos, acos(x[i]))              \
  DO(acosh, acosh(x[i]))            \
  DO(asin, asin(x[i]))              \
  DO(asinh, asinh(x[i]))            \
  DO(atan, atan(x[i]))              \
  DO(atan2, atan2(x[i], y[i]))      \
  DO(atanh, atanh(x[i]))            \
  DO(cbrt, cbrt(x[i]))              \
  DO(cos, cos(x[i]))                \
  DO(cosh, cosh(x[i]))              \
  DO(erf, erf(x[i]))                \
  DO(erfc, erfc(x[i]))              \
  DO(exp, exp(x[i]))                \
  DO(exp2, exp2(x[i]))              \
  DO(exp10, exp10(x[i]))            \
  DO(expm1, expm1(x[i]))            \
  DO(fmod, fmod(x[i], y[i]))        \
  DO(hypot, hypot(x[i], y[i]))      \
  DO(lgamma, lgamma(x[i]))          \
  DO(log, log(x[i]))                \
  DO(log10, log10(x[i]))            \
  DO(log1p, log1p(x[i]))            \
  DO(log2, log2(x[i]))              \
  DO(pow, pow(x[i], y[i]))          \
  DO(rsqrt, 1 / sqrt(x[i]))         \
  DO(sigmoid, 1 / (1 + exp(-x[i]))) \
  DO(sin, sin(x[i]))                \
  DO(sinh, sinh(x[i]))              \
  DO(tan, tan(x[i]))                \
  DO(tanh, tanh(x[i]))              \
  DO(tgamma, tgamma(x[i]))

FOR_EACH_FUNCTION(REFERENCE_LOOP)

#undef REFERENCE_LOOP

}  // namespace

ReferenceLoop reference_loop(const std::string& name) {
#define NAMED_LOOP(name, value) {#name, loop_of_##name},
  static const std::map<std::string, ReferenceLoop> all{FOR_EACH_FUNCTION(NAMED_LOOP)};
#undef NAMED_LOOP
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

}  // namespace tile_tune::codegen::functions
