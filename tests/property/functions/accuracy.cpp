#include "tests/property/functions/accuracy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <type_traits>

#include "tests/property/functions/exact.h"
#include "tests/property/functions/reference_loops.h"
#include "tests/property/functions/samples.h"
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
  explicit Judge(const std::string& name) : name_(name), allowed_(allowance(name)), loop_(reference_loop(name)) {
    const auto one = unaries<Wide<T>>().find(name);
    if (one != unaries<Wide<T>>().end()) unary_ = one->second;
    const auto two = binaries<Wide<T>>().find(name);
    if (two != binaries<Wide<T>>().end()) binary_ = two->second;
  }

  /// Of `count` arguments from `first` on, to more bits than T has; false where only MPFR tells.
  bool exact(const std::vector<std::vector<T>>& columns, size_t first, size_t count, Wide<T>* exact) const {
    const T* const x = columns[0].data() + first;
    const T* const y = columns.back().data() + first;
    if (std::is_same_v<T, float> && loop_) {
      std::vector<double> a(x, x + count), b(y, y + count), values(count);
      loop_(a.data(), b.data(), values.data(), count);
      std::copy(values.begin(), values.end(), exact);
      return true;
    }
    for (size_t k = 0; k < count && (unary_ || binary_); ++k) exact[k] = unary_ ? unary_(x[k]) : binary_(x[k], y[k]);
    return unary_ || binary_;
  }

  /// What those tell of results.
  void errors(const Wide<T>* exact, const T* results, double* errors, size_t count) const {
    if constexpr (std::is_same_v<T, float>)
      errors_in_ulp(exact, results, errors, count);
    else
      for (size_t k = 0; k < count; ++k) errors[k] = distance<T>(exact[k], results[k]);
  }

  bool is_sure(double error) const { return error < allowed_.ulp - 0.02; }

  double sure_error(const std::vector<T>& arguments, T result) const {
    const double sure = error_in_ulp(name_, arguments, result);
    if (sure > allowed_.ulp && absolute_error(name_, arguments, result) < allowed_.absolute) return 0;
    return sure;
  }

 private:
  std::string name_;
  Allowance allowed_;
  ReferenceLoop loop_;
  Wide<T> (*unary_)(Wide<T>) = nullptr;
  Wide<T> (*binary_)(Wide<T>, Wide<T>) = nullptr;
};

/// Each target's results at the same arguments.
template <typename T>
using Results = std::vector<std::vector<T>>;

template <typename T>
void judge(const Judge<T>& judge, const std::vector<std::vector<T>>& columns, const Results<T>& results,
           std::vector<Worst>& worst) {
  constexpr size_t kBlock = 4096;
  const size_t all = columns[0].size();
  std::vector<Wide<T>> exact(kBlock);
  std::vector<double> errors(kBlock);
  std::vector<T> arguments(columns.size());
  for (size_t first = 0; first < all; first += kBlock) {
    const size_t count = std::min(kBlock, all - first);
    const bool is_known = judge.exact(columns, first, count, exact.data());
    for (size_t target = 0; target < results.size(); ++target) {
      const T* const found = results[target].data() + first;
      if (is_known)
        judge.errors(exact.data(), found, errors.data(), count);
      else
        std::fill(errors.begin(), errors.end(), HUGE_VAL);
      for (size_t k = 0; k < count; ++k) {
        if (errors[k] <= worst[target].error) continue;
        for (size_t c = 0; c < columns.size(); ++c) arguments[c] = columns[c][first + k];
        const double error = judge.is_sure(errors[k]) ? errors[k] : judge.sure_error(arguments, found[k]);
        if (error > worst[target].error)
          worst[target] = {error, std::vector<double>(arguments.begin(), arguments.end()), found[k]};
      }
    }
  }
}

template <typename T>
std::vector<VectorFunction<T>> compiled(const std::string& name, int arguments,
                                        const std::vector<std::string>& targets) {
  std::vector<VectorFunction<T>> all;
  for (const auto& target : targets) all.emplace_back(name, arguments, target);
  return all;
}

template <typename T>
Results<T> of_each(const std::vector<VectorFunction<T>>& functions, const std::vector<std::vector<T>>& columns) {
  Results<T> all;
  for (const auto& function : functions) all.push_back(function(columns));
  return all;
}

}  // namespace

Allowance allowance(const std::string& name) {
  if (name == "lgamma" || name == "tgamma") return {4, 1e-10};
  return {};
}

template <typename T>
std::vector<Worst> worst_errors(const std::string& name, const std::vector<std::string>& targets,
                                const std::vector<std::vector<T>>& columns) {
  const auto functions = compiled<T>(name, static_cast<int>(columns.size()), targets);
  std::vector<Worst> worst(targets.size());
  judge(Judge<T>(name), columns, of_each(functions, columns), worst);
  return worst;
}

std::vector<Worst> worst_errors_of_all(const std::string& name, const std::vector<std::string>& targets,
                                       uint64_t step) {
  constexpr uint64_t kAll = uint64_t{1} << 32, kBlock = 1 << 20;
  const auto functions = compiled<float>(name, 1, targets);
  const Judge<float> of(name);
  std::vector<Worst> worst(targets.size());
  std::vector<std::vector<float>> column(1, std::vector<float>(kBlock));
  for (uint64_t first = 0; first < kAll; first += kBlock * step) {
    for (uint64_t k = 0; k < kBlock; ++k) column[0][k] = std::bit_cast<float>(static_cast<uint32_t>(first + k * step));
    judge(of, column, of_each(functions, column), worst);
  }
  return worst;
}

template <typename T>
std::vector<Worst> worst_errors_of_many(const std::string& name, int arguments, const std::vector<std::string>& targets,
                                        uint64_t count) {
  constexpr size_t kBlock = 3 << 18;
  const auto functions = compiled<T>(name, arguments, targets);
  const Judge<T> of(name);
  std::vector<Worst> worst(targets.size());
  for (uint64_t block = 0; block * kBlock < count; ++block) {
    std::vector<std::vector<T>> columns;
    for (int k = 0; k < arguments; ++k) columns.push_back(samples<T>(kBlock, 1000 * (3 * block + k)));
    judge(of, columns, of_each(functions, columns), worst);
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

using Strings = std::vector<std::string>;
template std::vector<Worst> worst_errors(const std::string&, const Strings&, const std::vector<std::vector<float>>&);
template std::vector<Worst> worst_errors(const std::string&, const Strings&, const std::vector<std::vector<double>>&);
template std::vector<Worst> worst_errors_of_many<float>(const std::string&, int, const Strings&, uint64_t);
template std::vector<Worst> worst_errors_of_many<double>(const std::string&, int, const Strings&, uint64_t);
template std::string described<float>(const std::string&, const std::string&, const Worst&);
template std::string described<double>(const std::string&, const std::string&, const Worst&);

}  // namespace tile_tune::codegen::functions
