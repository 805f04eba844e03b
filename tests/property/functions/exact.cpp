#include "tests/property/functions/exact.h"

#include <mpfr.h>

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace tile_tune::codegen::functions {
namespace {

constexpr mpfr_prec_t kPrecision = 300;
constexpr mpfr_rnd_t kNearest = MPFR_RNDN;

class Number {
 public:
  Number() { mpfr_init2(value_, kPrecision); }
  explicit Number(double value) : Number() { mpfr_set_d(value_, value, kNearest); }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

using Unary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

// e^x / (1 + e^x)
int sigmoid(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  Number power, sum;
  mpfr_neg(sum, x, rounding);
  mpfr_exp(power, sum, rounding);
  mpfr_add_ui(sum, power, 1, rounding);
  return mpfr_ui_div(result, 1, sum, rounding);
}

int rsqrt(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  const int inexact = mpfr_rec_sqrt(result, x, rounding);
  if (mpfr_zero_p(x) && mpfr_signbit(x)) mpfr_set_inf(result, -1);
  return inexact;
}

int lgamma(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  int sign = 0;
  return mpfr_lgamma(result, &sign, x, rounding);
}

int floor_mod(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rounding) {
  const int inexact = mpfr_fmod(result, x, y, rounding);
  if (mpfr_number_p(result) && !mpfr_zero_p(result) && mpfr_signbit(result) != mpfr_signbit(y))
    return mpfr_add(result, result, y, rounding);
  return inexact;
}

const std::map<std::string, Unary>& unaries() {
  static const std::map<std::string, Unary> all{
      {"acos", mpfr_acos},   {"acosh", mpfr_acosh}, {"asin", mpfr_asin},   {"asinh", mpfr_asinh}, {"atan", mpfr_atan},
      {"atanh", mpfr_atanh}, {"cbrt", mpfr_cbrt},   {"cos", mpfr_cos},     {"cosh", mpfr_cosh},   {"erf", mpfr_erf},
      {"erfc", mpfr_erfc},   {"exp", mpfr_exp},     {"exp10", mpfr_exp10}, {"exp2", mpfr_exp2},   {"expm1", mpfr_expm1},
      {"lgamma", lgamma},    {"log", mpfr_log},     {"log10", mpfr_log10}, {"log1p", mpfr_log1p}, {"log2", mpfr_log2},
      {"rsqrt", rsqrt},      {"sigmoid", sigmoid},  {"sin", mpfr_sin},     {"sinh", mpfr_sinh},   {"sqrt", mpfr_sqrt},
      {"tan", mpfr_tan},     {"tanh", mpfr_tanh},   {"tgamma", mpfr_gamma}};
  return all;
}

const std::map<std::string, Binary>& binaries() {
  static const std::map<std::string, Binary> all{
      {"atan2", mpfr_atan2},    {"fdim", mpfr_dim},    {"floor_mod", floor_mod}, {"fmod", mpfr_fmod},
      {"floor_mod", floor_mod}, {"hypot", mpfr_hypot}, {"pow", mpfr_pow}};
  return all;
}

void evaluate(const std::string& name, const std::vector<double>& x, mpfr_ptr exact) {
  Number first(x[0]);
  if (x.size() == 1) {
    unaries().at(name)(exact, first, kNearest);
    return;
  }
  Number second(x[1]);
  if (name == "copysign") {
    // MPFR's NaN has no sign.
    mpfr_set_d(exact, std::copysign(x[0], x[1]), kNearest);
    return;
  }
  if (x.size() == 2) {
    binaries().at(name)(exact, first, second, kNearest);
    return;
  }
  Number third(x[2]);
  if (name != "fma") throw std::invalid_argument(name);
  mpfr_fma(exact, first, second, third, kNearest);
}

// |result - exact| / 2^exponent_of(exact).
template <typename T, typename Exponent>
double distance(const std::string& name, const std::vector<T>& arguments, T result, const Exponent& exponent_of) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  constexpr int kBeyond = std::numeric_limits<T>::max_exponent;
  Number exact, difference, beyond(1);
  evaluate(name, std::vector<double>(arguments.begin(), arguments.end()), exact);
  if (mpfr_nan_p(static_cast<mpfr_ptr>(exact)) || std::isnan(result))
    return mpfr_nan_p(static_cast<mpfr_ptr>(exact)) && std::isnan(result) ? 0 : kWrong;
  if (std::signbit(result) != static_cast<bool>(mpfr_signbit(static_cast<mpfr_ptr>(exact)))) return kWrong;
  if (mpfr_inf_p(static_cast<mpfr_ptr>(exact))) return std::isinf(result) ? 0 : kWrong;
  mpfr_abs(exact, exact, kNearest);
  mpfr_mul_2si(beyond, beyond, kBeyond, kNearest);
  if (mpfr_greater_p(exact, beyond)) mpfr_set(exact, beyond, kNearest);
  if (std::isinf(result))
    mpfr_set(difference, beyond, kNearest);
  else
    mpfr_set_d(difference, std::fabs(result), kNearest);
  mpfr_sub(difference, difference, exact, kNearest);
  mpfr_mul_2si(difference, difference, -exponent_of(exact), kNearest);
  return std::fabs(mpfr_get_d(difference, kNearest));
}

}  // namespace

template <typename T>
double error_in_ulp(const std::string& name, const std::vector<T>& arguments, T result) {
  using Limits = std::numeric_limits<T>;
  return distance(name, arguments, result, [](mpfr_ptr exact) {
    const long least = Limits::min_exponent - Limits::digits;
    if (mpfr_zero_p(exact)) return least;
    // MPFR's significands are in [1/2, 1).
    return std::max<long>(std::min<long>(mpfr_get_exp(exact), Limits::max_exponent) - Limits::digits, least);
  });
}

template <typename T>
double absolute_error(const std::string& name, const std::vector<T>& arguments, T result) {
  return distance(name, arguments, result, [](mpfr_ptr) { return 0L; });
}

template double error_in_ulp(const std::string&, const std::vector<float>&, float);
template double error_in_ulp(const std::string&, const std::vector<double>&, double);
template double absolute_error(const std::string&, const std::vector<float>&, float);
template double absolute_error(const std::string&, const std::vector<double>&, double);

}  // namespace tile_tune::codegen::functions
