#include "tests/property/functions/accuracy.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <type_traits>

#include "tests/property/functions/exact.h"
#include "tests/property/functions/vector_function.h"

namespace tile_tune::codegen::functions {
namespace {

// A type that holds many bits more, with the C library's functions: wrong by far less than a hundredth of an ulp.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;

template <typename W>
const std::map<std::string, W (*)(W)>& unaries() {
  static const std::map<std::string, W (*)(W)> all{{"acos", std::acos},
                                                   {"acosh", std::acosh},
                                                   {"asin", std::asin},
                                                   {"asinh", std::asinh},
                                                   {"atan", std::atan},
                                                   {"atanh", std::atanh},
                                                   {"cbrt", std::cbrt},
                                                   {"cos", std::cos},
                                                   {"cosh", std::cosh},
                                                   {"erf", std::erf},
                                                   {"erfc", std::erfc},
                                                   {"exp", std::exp},
                                                   {"exp2", std::exp2},
                                                   {"expm1", std::expm1},
                                                   {"log", std::log},
                                                   {"log10", std::log10},
                                                   {"log1p", std::log1p},
                                                   {"log2", std::log2},
                                                   {"sin", std::sin},
                                                   {"sinh", std::sinh},
                                                   {"tan", std::tan},
                                                   {"tanh", std::tanh},
                                                   {"rsqrt", [](W x) { return 1 / std::sqrt(x); }},
                                                   {"exp10", [](W x) { return std::pow(W(10), x); }},
                                                   {"sigmoid", [](W x) { return 1 / (1 + std::exp(-x)); }}};
  return all;
}

template <typename W>
const std::map<std::string, W (*)(W, W)>& binaries() {
  static const std::map<std::string, W (*)(W, W)> all{
      {"atan2", std::atan2}, {"fmod", std::fmod}, {"hypot", std::hypot}, {"pow", std::pow}};
  return all;
}

template <typename T>
double distance(Wide<T> exact, T result) {
  using Limits = std::numeric_limits<T>;
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(result)) return std::isnan(exact) && std::isnan(result) ? 0 : kWrong;
  if (std::signbit(exact) != std::signbit(result)) return kWrong;
  if (std::isinf(exact) && std::isinf(result)) return 0;
  const Wide<T> beyond = std::ldexp(Wide<T>(1), Limits::max_exponent);
  const Wide<T> size = std::fmin(std::fabs(exact), beyond);
  const Wide<T> found = std::isinf(result) ? beyond : std::fabs(Wide<T>(result));
  const int exponent = size == 0 ? Limits::min_exponent : std::ilogb(size) + 1;
  const int unit = std::max(std::min(exponent, Limits::max_exponent), Limits::min_exponent) - Limits::digits;
  return static_cast<double>(std::ldexp(std::fabs(found - size), -unit));
}

/// The errors of one function at arguments, by the C library's functions where they tell for sure.
template <typename T>
class Judge {
 public:
  explicit Judge(const std::string& name) : name_(name), allowed_(allowance(name)) {
    const auto one = unaries<Wide<T>>().find(name);
    if (one != unaries<Wide<T>>().end()) unary_ = one->second;
    const auto two = binaries<Wide<T>>().find(name);
    if (two != binaries<Wide<T>>().end()) binary_ = two->second;
  }

  double error(const std::vector<T>& arguments, T result) const {
    if (unary_ || binary_) {
      const Wide<T> near = unary_ ? unary_(arguments[0]) : binary_(arguments[0], arguments[1]);
      const double likely = distance<T>(near, result);
      if (likely < allowed_.ulp - 0.02) return likely;
    }
    const double sure = error_in_ulp(name_, arguments, result);
    if (sure > allowed_.ulp && absolute_error(name_, arguments, result) < allowed_.absolute) return 0;
    return sure;
  }

 private:
  std::string name_;
  Allowance allowed_;
  Wide<T> (*unary_)(Wide<T>) = nullptr;
  Wide<T> (*binary_)(Wide<T>, Wide<T>) = nullptr;
};

template <typename T>
void judge(const Judge<T>& judge, const std::vector<std::vector<T>>& columns, const std::vector<T>& results,
           Worst& worst) {
  std::vector<T> arguments(columns.size());
  for (size_t k = 0; k < results.size(); ++k) {
    for (size_t c = 0; c < columns.size(); ++c) arguments[c] = columns[c][k];
    const double error = judge.error(arguments, results[k]);
    if (error > worst.error) worst = {error, std::vector<double>(arguments.begin(), arguments.end()), results[k]};
  }
}

}  // namespace

Allowance allowance(const std::string& name) {
  if (name == "lgamma" || name == "tgamma") return {4, 1e-10};
  return {};
}

template <typename T>
Worst worst_error(const std::string& name, const std::string& target, const std::vector<std::vector<T>>& columns) {
  const VectorFunction<T> function(name, static_cast<int>(columns.size()), target);
  Worst worst;
  judge(Judge<T>(name), columns, function(columns), worst);
  return worst;
}

Worst worst_error_of_all(const std::string& name, const std::string& target, uint64_t step) {
  constexpr uint64_t kAll = uint64_t{1} << 32, kBlock = 1 << 20;
  const VectorFunction<float> function(name, 1, target);
  const Judge<float> of(name);
  Worst worst;
  std::vector<std::vector<float>> column(1, std::vector<float>(kBlock));
  for (uint64_t first = 0; first < kAll; first += kBlock * step) {
    for (uint64_t k = 0; k < kBlock; ++k) column[0][k] = std::bit_cast<float>(static_cast<uint32_t>(first + k * step));
    judge(of, column, function(column), worst);
  }
  return worst;
}

template <typename T>
std::string described(const std::string& name, const std::string& target, const Worst& worst) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.3f", worst.error);
  std::string line = name + (sizeof(T) == 4 ? " f32 " : " f64 ") + target + ": " + text + " ulp at";
  for (const double argument : worst.arguments) {
    std::snprintf(text, sizeof(text), " %a", argument);
    line += text;
  }
  std::snprintf(text, sizeof(text), ", where it gives %a", worst.result);
  return line + text;
}

template Worst worst_error(const std::string&, const std::string&, const std::vector<std::vector<float>>&);
template Worst worst_error(const std::string&, const std::string&, const std::vector<std::vector<double>>&);
template std::string described<float>(const std::string&, const std::string&, const Worst&);
template std::string described<double>(const std::string&, const std::string&, const Worst&);

}  // namespace tile_tune::codegen::functions
