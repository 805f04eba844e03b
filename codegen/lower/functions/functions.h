// The functions of TC and the Tile eDSL as vector code: what a kernel computes is in the kernel, no call of a library.
//
// Each takes f32 or f64 and is within 2 ulp (lgamma and tgamma: 4 ulp, or 1e-10 near lgamma's zeros) for every
// argument, subnormal ones and results included; NaN, infinities and signed zeros as in C. What has to be strict for
// that is strict; the rest may become fused multiply-adds, so the last bit differs between CPUs unless the target is
// deterministic: no operation is fused there, and every CPU gives the same bits. docs/functions.md has their errors and
// times.
#pragma once

#include <string>
#include <vector>

#include "Halide.h"

namespace tile_tune::codegen::functions {

/// A call that stands for the function of this name until expand(): strict_float, asked of an expression, reaches into
/// the arithmetic of all that it holds.
Halide::Expr call(const std::string& name, const std::vector<Halide::Expr>& arguments);

/// The expression with the arithmetic of every call() in it. To be asked last, when what has to be strict is.
Halide::Expr expand(const Halide::Expr& expr);

/// The names that call() knows, and how many arguments each takes.
struct Name {
  std::string name;
  int arguments;
};
std::vector<Name> names();

// exponentials.cpp
Halide::Expr exp(const Halide::Expr& x);
Halide::Expr exp2(const Halide::Expr& x);
Halide::Expr exp10(const Halide::Expr& x);
Halide::Expr expm1(const Halide::Expr& x);
Halide::Expr sigmoid(const Halide::Expr& x);  // 1 / (1 + e^-x)

// hyperbolic.cpp
Halide::Expr tanh(const Halide::Expr& x);
Halide::Expr sinh(const Halide::Expr& x);
Halide::Expr cosh(const Halide::Expr& x);

// logarithms.cpp
Halide::Expr log(const Halide::Expr& x);
Halide::Expr log2(const Halide::Expr& x);
Halide::Expr log10(const Halide::Expr& x);
Halide::Expr log1p(const Halide::Expr& x);

// inverse_hyperbolic.cpp
Halide::Expr asinh(const Halide::Expr& x);
Halide::Expr acosh(const Halide::Expr& x);
Halide::Expr atanh(const Halide::Expr& x);

// powers.cpp
Halide::Expr pow(const Halide::Expr& x, const Halide::Expr& y);
Halide::Expr cbrt(const Halide::Expr& x);
Halide::Expr rsqrt(const Halide::Expr& x);

// trigonometric.cpp
Halide::Expr sin(const Halide::Expr& x);
Halide::Expr cos(const Halide::Expr& x);
Halide::Expr tan(const Halide::Expr& x);

// inverse_trigonometric.cpp
Halide::Expr asin(const Halide::Expr& x);
Halide::Expr acos(const Halide::Expr& x);
Halide::Expr atan(const Halide::Expr& x);
Halide::Expr atan2(const Halide::Expr& y, const Halide::Expr& x);

// error_function.cpp
Halide::Expr erf(const Halide::Expr& x);
Halide::Expr erfc(const Halide::Expr& x);

// gamma.cpp
Halide::Expr lgamma(const Halide::Expr& x);
Halide::Expr tgamma(const Halide::Expr& x);

// remainders.cpp: exact
Halide::Expr fmod(const Halide::Expr& x, const Halide::Expr& y);
Halide::Expr floor_mod(const Halide::Expr& x, const Halide::Expr& y);  // with the divisor's sign

// elementary.cpp
Halide::Expr fma(const Halide::Expr& x, const Halide::Expr& y, const Halide::Expr& z);
Halide::Expr copysign(const Halide::Expr& x, const Halide::Expr& y);
Halide::Expr fdim(const Halide::Expr& x, const Halide::Expr& y);
Halide::Expr hypot(const Halide::Expr& x, const Halide::Expr& y);

}  // namespace tile_tune::codegen::functions
