#include "tests/property/functions/accuracy.h"

#include <cstdio>

#include "tests/property/functions/exact.h"
#include "tests/property/functions/vector_function.h"

namespace tile_tune::codegen::functions {

Allowance allowance(const std::string& name) {
  if (name == "lgamma" || name == "tgamma") return {4, 1e-10};
  return {};
}

template <typename T>
Worst worst_error(const std::string& name, const std::string& target, const std::vector<std::vector<T>>& columns) {
  const VectorFunction<T> function(name, static_cast<int>(columns.size()), target);
  const std::vector<T> results = function(columns);
  const Allowance allowed = allowance(name);
  Worst worst;
  for (size_t k = 0; k < results.size(); ++k) {
    std::vector<T> arguments;
    for (const auto& column : columns) arguments.push_back(column[k]);
    const double error = error_in_ulp(name, arguments, results[k]);
    if (error <= worst.error) continue;
    if (error > allowed.ulp && absolute_error(name, arguments, results[k]) < allowed.absolute) continue;
    worst = {error, std::vector<double>(arguments.begin(), arguments.end()), results[k]};
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
