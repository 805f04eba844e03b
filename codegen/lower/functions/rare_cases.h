// The rare cases of functions (rare.h), by their arguments: for vectors of any length, and every number.
#pragma once

#include <vector>

#include "Halide.h"

namespace tile_tune::codegen::functions {

Halide::Expr rare_sin(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_cos(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_tan(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_fmod(const std::vector<Halide::Expr>& arguments);
Halide::Expr rare_fmod_single(const std::vector<Halide::Expr>& arguments);  // f32 in f64

/// trunc, floor and ceil of a target without instructions for them: by integers alone, and one difference that is
/// exact.
Halide::Expr truncated(const Halide::Expr& x);
Halide::Expr floored(const Halide::Expr& x);
Halide::Expr ceiled(const Halide::Expr& x);

/// The name of the call that fma() makes, and its arithmetic for a target without the instruction.
inline constexpr const char* kFused = "tile_tune_fused";
Halide::Expr fused(const std::vector<Halide::Expr>& arguments);

}  // namespace tile_tune::codegen::functions
