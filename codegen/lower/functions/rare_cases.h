// The rare cases of functions (rare.h), by their arguments: for vectors of any length, and every number.
#pragma once

#include <vector>

#include "Halide.h"

namespace tile_tune::codegen::functions {

Halide::Expr rare_acosh(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_asinh(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_atan2(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_atanh(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_cbrt(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_cos(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_cosh(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_exp(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_exp10(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_exp2(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_fmod(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_hypot(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_lgamma(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_log(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_log10(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_log1p(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_log2(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_pow(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_pow_negative(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_rsqrt(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_sigmoid(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_sin(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_sinh(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_tan(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_fmod_single(const std::vector<Halide::Expr>& arguments);  // f32 in f64

/// trunc, floor and ceil of a target without instructions for them: by integers alone, and one difference that is
/// exact.
Halide::Expr truncated(const Halide::Expr& x);
Halide::Expr floored(const Halide::Expr& x);
Halide::Expr ceiled(const Halide::Expr& x);

/// The names of the calls that functions of arithmetic.h make for the pass, and what two of them are for a target
/// without the instruction.
inline constexpr const char* kFused = "tile_tune_fused";
inline constexpr const char* kProductError = "tile_tune_product_error";
inline constexpr const char* kWhereFused = "tile_tune_where_fused";
inline constexpr const char* kWhereApproximate = "tile_tune_where_approximate";
inline constexpr const char* kApproximateInverseRoot = "tile_tune_approximate_inverse_root";
Halide::Expr fused(const std::vector<Halide::Expr>& arguments);
Halide::Expr unfused_product_error(const std::vector<Halide::Expr>& arguments);

}  // namespace tile_tune::codegen::functions
