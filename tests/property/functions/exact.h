// What a function is, to hundreds of bits (GNU MPFR), and how far a result is from it.
#pragma once

#include <string>
#include <vector>

namespace tile_tune::codegen::functions {

/// In ulp of T at the exact value; infinite where NaN, an infinity or a sign is wrong. An infinity counts as the power
/// of two beyond the type's largest number.
template <typename T>
double error_in_ulp(const std::string& name, const std::vector<T>& arguments, T result);

/// |result - exact value|; infinite as above.
template <typename T>
double absolute_error(const std::string& name, const std::vector<T>& arguments, T result);

}  // namespace tile_tune::codegen::functions
