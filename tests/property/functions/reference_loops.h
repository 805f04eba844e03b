// The C library's functions over arrays of f64, in loops that the compiler makes vector code of: what most values of a
// function of f32 are told right by.
#pragma once

#include <cstddef>
#include <string>

namespace tile_tune::codegen::functions {

/// z[i] = f(x[i], y[i]), within a few ulp of f64 where x and y are f32 and the result is neither infinite nor NaN:
/// there it may be anything.
using ReferenceLoop = void (*)(const double* x, const double* y, double* z, size_t count);

/// Null where there is none.
ReferenceLoop reference_loop(const std::string& name);

/// The error of each result in ulp of f32, where exact[i] is the exact value to many more bits; infinite where one of
/// the two is NaN or has another sign.
void errors_in_ulp(const double* exact, const float* results, double* errors, size_t count);

}  // namespace tile_tune::codegen::functions
