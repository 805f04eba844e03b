// The largest error of a function over arguments.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tile_tune::codegen::functions {

struct Worst {
  double error = 0;  // in ulp
  std::vector<double> arguments;
  double result = 0;
};

/// How far the function may be from the exact value, in ulp, and where it is further, how far absolutely.
struct Allowance {
  double ulp = 2, absolute = 0;
};
Allowance allowance(const std::string& name);

/// Of the function compiled for each of some targets(), at columns of arguments; 0 where the absolute allowance is
/// kept.
template <typename T>
std::vector<Worst> worst_errors(const std::string& name, const std::vector<std::string>& targets,
                                const std::vector<std::vector<T>>& columns);

/// The same of a function of one f32, for all 2^32 values, or each of so many.
std::vector<Worst> worst_errors_of_all(const std::string& name, const std::vector<std::string>& targets,
                                       uint64_t step = 1);

/// The same at so many samples().
template <typename T>
std::vector<Worst> worst_errors_of_many(const std::string& name, int arguments, const std::vector<std::string>& targets,
                                        uint64_t count);

/// "exp f32 host: 1.2 ulp at -0x1p3, where it gives ...".
template <typename T>
std::string described(const std::string& name, const std::string& target, const Worst& worst);

}  // namespace tile_tune::codegen::functions
